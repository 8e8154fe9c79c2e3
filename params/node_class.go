package params

import (
	"strings"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"
)

// nodeClassSchema says what karpenter_config.ec2NodeClass must look like: the spec of the AWS provider's EC2NodeClass
// 1.13, less what the rack sets itself.
func nodeClassSchema() *shape.Schema {
	anyText, flag := &shape.Schema{Kind: shape.String}, &shape.Schema{Kind: shape.Bool}
	number := func(value whole) *shape.Schema { return &shape.Schema{Kind: shape.Int, Check: wholeCheck(value)} }
	one := func(words ...string) *shape.Schema {
		return &shape.Schema{Kind: shape.String, Check: shape.OneOf(words...)}
	}
	list := func(most int, items *shape.Schema) *shape.Schema {
		return &shape.Schema{Kind: shape.List, MaxItems: most, Items: items}
	}
	words := func(most int) *shape.Schema { return &shape.Schema{Kind: shape.Map, MaxItems: most, Items: anyText} }
	amounts := nodepool.LimitsSchema()
	amounts.Items.Kind = shape.String

	tags := words(0)
	tags.Key = func(key string) string {
		if strings.EqualFold(key, "Name") || strings.EqualFold(key, "Rack") {
			return setByRack
		}
		return ""
	}
	images := list(30, object(field("alias", anyText), field("id", anyText), field("name", anyText), field("owner", anyText), field("ssmParameter", anyText), field("tags", words(20))))
	images.MinItems = 1

	return object(
		field("amiFamily", one("AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025")),
		field("amiSelectorTerms", images),
		field("associatePublicIPAddress", flag),
		field("blockDeviceMappings", list(50, object(
			field("deviceName", anyText),
			field("ebs", object(
				field("deleteOnTermination", flag), field("encrypted", flag), field("iops", number(atLeast(0))), field("kmsKeyID", anyText),
				field("snapshotID", anyText), field("throughput", number(atLeast(0))), field("volumeInitializationRate", number(between(100, 300))),
				field("volumeSize", anyText), field("volumeType", one("standard", "io1", "io2", "gp2", "sc1", "st1", "gp3")),
			)),
			field("rootVolume", flag),
		))),
		field("capacityReservationSelectorTerms", list(30, object(
			field("id", anyText), field("instanceMatchCriteria", one("open", "targeted")), field("ownerID", anyText), field("tags", words(20)),
		))),
		field("connectionTracking", object(
			field("tcpEstablishedTimeout", number(between(60, 432000))), field("udpStreamTimeout", number(between(60, 180))), field("udpTimeout", number(between(30, 60))),
		)),
		field("context", anyText),
		field("cpuOptions", object(field("nestedVirtualization", one("enabled", "disabled")))),
		field("detailedMonitoring", flag),
		field("instanceStorePolicy", one("RAID0")),
		field("ipPrefixCount", number(atLeast(0))),
		field("kubelet", object(
			field("clusterDNS", list(0, anyText)), field("cpuCFSQuota", flag), field("evictionHard", words(0)),
			field("evictionMaxPodGracePeriod", number(anyNumber)), field("evictionSoft", words(0)), field("evictionSoftGracePeriod", words(0)),
			field("imageGCHighThresholdPercent", number(between(0, 100))), field("imageGCLowThresholdPercent", number(between(0, 100))),
			field("kubeReserved", amounts), field("maxPods", number(atLeast(0))), field("podsPerCore", number(atLeast(0))), field("systemReserved", amounts),
		)),
		field("metadataOptions", object(
			field("httpEndpoint", one("enabled", "disabled")), field("httpProtocolIPv6", one("enabled", "disabled")),
			field("httpPutResponseHopLimit", number(between(1, 64))), field("httpTokens", one("required", "optional")),
		)),
		field("networkInterfaces", list(150, object(
			required("deviceIndex", number(atLeast(0))), required("interfaceType", one("interface", "efa-only")), required("networkCardIndex", number(atLeast(0))),
		))),
		field("placementGroupSelector", object(field("id", anyText), field("name", anyText))),
		field("tags", tags),
		field("userData", anyText),
		forbidden("role"), forbidden("instanceProfile"), forbidden("subnetSelectorTerms"), forbidden("securityGroupSelectorTerms"),
	)
}
