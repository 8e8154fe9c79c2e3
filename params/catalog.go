package params

// catalog is every rack parameter, by name. It is the one place where a parameter is described: the checks, the list, the
// help, the completion and the reference page all follow from it.
var catalog = []Parameter{
	{
		Name: "access_id", Providers: DO, Type: String, Value: text{}, Groups: "security", Sensitive: true, InstallOnly: true,
		Doc: "Access key ID that the rack uses for DigitalOcean Spaces object storage. It works only together with the matching secret key and is fixed at installation.",
	},
	{
		Name: "access_log_retention_in_days", Providers: AWS, Type: Number, Default: "7", Value: atLeast(-1), Groups: "logging retention",
		Doc: "Number of days that the router's access logs are kept in CloudWatch Logs. Shortening it lets entries older than the new limit be deleted for good.",
	},
	{
		Name: "additional_build_groups_config", Providers: AWS | Azure, Type: JSON, Value: nodeGroups, Groups: "build", Clearable: true,
		Doc: "JSON list of extra node groups that run builds beside the rack's standard nodes. Dropping a stored group removes its nodes, so that change has to be forced.",
	},
	{
		Name: "additional_karpenter_nodepools_config", Providers: AWS, Type: JSON, Value: customPools, Groups: "gpu karpenter", Clearable: true,
		Doc: "JSON list of custom Karpenter NodePools, each with its own instances, limits, taints and disruption settings. Leaving out a stored pool removes that pool and its nodes, so it has to be forced.",
	},
	{
		Name: "additional_node_groups_config", Providers: AWS | GCP | Azure, Type: JSON, Value: nodeGroups, Groups: "gpu nodes", Clearable: true,
		Doc: "JSON list of extra node groups for workloads that need other machines than the standard ones. With Karpenter on, every entry has to be dedicated, and dropping a stored group is destructive.",
	},
	{
		Name: "api_feature_gates", Providers: AWS, Type: String, Value: text{}, Clearable: true,
		Doc: "Feature gates switched on in the rack's API. A gate may expose behavior that is not yet settled, so it belongs on a test rack first.",
	},
	{
		Name: "app_cloudwatch_disable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "logging",
		Doc: "Stops application logs from being sent to CloudWatch. Alarms and queries built on those log groups see nothing new afterwards, so another log destination should be in place first.",
	},
	{
		Name: "availability_zones", Providers: AWS, Type: String, Value: zones, Groups: "network", InstallOnly: true,
		Doc: "Comma-separated availability zones in which the rack's subnets and nodes are placed. It is fixed at installation, and every zone has to offer the chosen instance types.",
	},
	{
		Name: "aws_ebs_csi_driver_version", Providers: AWS, Type: String, Default: "v1.56.0-eksbuild.1", Value: text{}, Groups: "storage versions", Managed: true,
		Doc: "Version of the EKS add-on that provisions EBS volumes for pods. Rack updates pick a version that fits the cluster, so a forced value can fall out of step.",
	},
	{
		Name: "azure_files_enable", Providers: Azure, Type: Bool, Default: "false", Value: boolean{}, Groups: "storage",
		Doc: "Makes Azure Files shares available to the cluster as shared volumes. Services that mount such volumes lose their storage class when it is turned off.",
	},
	{
		Name: "build_disable_convox_resolver", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "build",
		Doc: "Keeps build pods from using the Convox DNS resolver, so they resolve names through the cluster's own DNS. It affects builds only, not running services.",
	},
	{
		Name: "build_node_enabled", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "build",
		Doc: "Runs builds on dedicated nodes instead of sharing the nodes of running services. The separate nodes add cost, and with Karpenter on they form a NodePool of their own.",
	},
	{
		Name: "build_node_min_count", Providers: AWS, Type: Number, Default: "0", Value: atLeast(0), Groups: "build scaling",
		Doc: "Smallest number of dedicated build nodes kept running. A value of zero saves money between builds, at the price of waiting for a node when one starts.",
	},
	{
		Name: "build_node_minimal_role_enabled", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "build security",
		Doc: "Gives the dedicated build nodes an IAM role with reduced permissions. Builds that rely on AWS access inherited from the node may fail once it is on.",
	},
	{
		Name: "build_node_type", Providers: AWS, Type: String, Value: instanceType, Groups: "build", Clearable: true,
		Doc: "EC2 instance type of the dedicated build nodes; the general node type applies when empty. Its CPU architecture decides for which architecture images are natively built.",
	},
	{
		Name: "buildkit_enabled", Providers: GCP | DO, Type: String, Value: text{}, Groups: "build",
		Doc: "Selects BuildKit as the engine that builds application images. Dockerfiles and build caching may behave differently from the older engine, so a trial build is worthwhile.",
	},
	{
		Name: "buildkit_host_path_cache_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "build",
		Doc: "Keeps the BuildKit cache on the disk of the build node, so later builds there can reuse layers. The cache takes disk space and vanishes with the node.",
	},
	{
		Name: "cert_duration", Providers: AWS | GCP | Azure | DO, Type: String, Default: "2160h", Value: hours, Groups: "ingress",
		Doc: "Lifetime, in hours, of the TLS certificates that the rack requests for its services. A shorter lifetime means more frequent renewals, and the issuer may not honor every length.",
	},
	{
		Name: "cidr", Providers: AWS, Type: String, Default: "10.1.0.0/16", Value: cidrBlock, Groups: "network", InstallOnly: true,
		Doc: "Address range, in CIDR notation, of the VPC that the rack creates. It is fixed at installation and must not overlap networks the VPC will be peered with.",
	},
	{
		Name: "cloudwatch_disable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "logging",
		Doc: "Stops the rack from sending its logs to CloudWatch. Without another log destination in place, no lasting copy of the logs is kept.",
	},
	{
		Name: "cloudwatch_retention_in_days", Providers: AWS, Type: String, Value: oneOf("Never", "1", "3", "5", "7", "14", "30", "60", "90", "120", "150", "180", "365", "400", "545", "731", "1096", "1827", "2192", "2557", "2922", "3288", "3653"), Groups: "logging", Clearable: true, Since: "3.25.7",
		Doc: "Number of days that CloudWatch keeps the rack's log groups. CloudWatch accepts only certain lengths, and a shorter one permanently deletes the older entries.",
	},
	{
		Name: "contour_cpu_request", Providers: AWS, Type: String, Default: "100m", Value: text{}, Groups: "ingress", Clearable: true,
		Doc: "CPU reserved for each Contour controller pod, as a Kubernetes quantity such as millicores. It matters only where Contour is the router, and changing it restarts those pods.",
	},
	{
		Name: "contour_internal_tls", Providers: AWS, Type: Bool, Default: "true", Value: boolean{}, Groups: "ingress",
		Doc: "Controls whether the Contour router uses TLS for its internal traffic. It matters only where Contour is the router, and turning it off leaves that traffic unencrypted.",
	},
	{
		Name: "contour_memory_request", Providers: AWS, Type: String, Default: "128Mi", Value: text{}, Groups: "ingress", Clearable: true,
		Doc: "Memory reserved for each Contour controller pod, as a Kubernetes quantity such as mebibytes. It matters only where Contour is the router, and changing it restarts those pods.",
	},
	{
		Name: "convox_domain_tls_cert_disable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "domain",
		Doc: "Stops the rack from obtaining TLS certificates for service hostnames under the Convox domain. Clients calling those hostnames over HTTPS then meet certificate errors.",
	},
	{
		Name: "convox_rack_domain", Providers: AWS, Type: String, Value: text{}, Groups: "domain", Clearable: true,
		Doc: "Domain used for the rack and its service hostnames in place of the generated one. DNS for it has to point at the rack's router before clients depend on it.",
	},
	{
		Name: "coredns_version", Providers: AWS, Type: String, Default: "v1.13.2-eksbuild.1", Value: text{}, Groups: "versions", Managed: true,
		Doc: "Version of the EKS add-on that serves DNS inside the cluster. Rack updates match it to the Kubernetes version, and a bad pick can break name resolution everywhere.",
	},
	{
		Name: "cost_tracking_enable", Providers: AWS | Azure, Type: Bool, Default: "false", Value: boolean{}, Groups: "cost logging",
		Doc: "Turns on collection of cost figures for what runs on the rack. The figures start when it is enabled, and the collection itself uses some cluster resources.",
	},
	{
		Name: "custom_provided_bucket", Providers: AWS, Type: String, Value: text{}, Groups: "registry",
		Doc: "Name of an existing S3 bucket that the rack uses for storage instead of creating one. Data already in the previous bucket should not be expected to move along.",
	},
	{
		Name: "dcgm_scrape_interval", Providers: AWS | GCP, Type: String, Default: "15s", Value: durationBetween("15s", "300s"), Groups: "gpu nodes", Clearable: true,
		Doc: "Time between two collections of NVIDIA GPU metrics, as a duration in seconds. A shorter interval gives finer graphs but produces more samples to store.",
	},
	{
		Name: "deploy_crash_restart_limit", Providers: AWS, Type: Number, Default: "0", Value: anyNumber, Groups: "scaling", Since: "3.25.5",
		Doc: "Number of container restarts after which a crashing deployment is given up as failed. A low limit can fail services that restart a few times before settling.",
	},
	{
		Name: "deploy_extra_nlb", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "network",
		Doc: "Adds another AWS network load balancer to the rack. It is billed separately, and turning it off breaks clients that connect through its address.",
	},
	{
		Name: "deploy_progress_deadline", Providers: AWS, Type: Number, Default: "0", Value: zeroOrBetween(30, 21600), Groups: "scaling",
		Doc: "Seconds a deployment may go without progress before it counts as failed. It has to exceed the slowest image pull plus service start, or healthy releases fail.",
	},
	{
		Name: "disable_convox_resolver", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "network",
		Doc: "Turns off the Convox DNS resolver and leaves lookups to the cluster's own DNS. Services that depend on names only that resolver answers may stop finding each other.",
	},
	{
		Name: "disable_image_manifest_cache", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "registry",
		Doc: "Turns off the rack's cache of image manifests. Each lookup then goes to the registry, which is slower and counts against its rate limits.",
	},
	{
		Name: "disable_public_access", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "network security", Managed: true,
		Doc: "Closes the public endpoint of the cluster's Kubernetes API. A private route to the API must work first, or the rack can no longer be managed from outside.",
	},
	{
		Name: "docker_hub_password", Providers: everywhere, Type: String, Value: text{}, Groups: "registry security", Clearable: true, Sensitive: true,
		Doc: "Password or access token for Docker Hub, used to pull images as an authenticated user. Once it is revoked, pulls of private images fail and anonymous limits return.",
	},
	{
		Name: "docker_hub_username", Providers: everywhere, Type: String, Value: text{}, Groups: "registry", Clearable: true,
		Doc: "Docker Hub account used to pull images as an authenticated user, which raises rate limits. It has no use without the matching password.",
	},
	{
		Name: "domain", Providers: Metal, Type: String, Value: text{}, Groups: "domain",
		Doc: "Base domain under which a rack on your own machines serves its API and applications. DNS for it, usually a wildcard record, has to resolve to the rack's router.",
	},
	{
		Name: "ebs_volume_encryption_enabled", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "security storage",
		Doc: "Encrypts the EBS volumes of the rack's nodes. Existing volumes are not encrypted in place, so the nodes have to be replaced for it to take effect.",
	},
	{
		Name: "ecr_additional_policy_arn", Providers: AWS, Type: String, Value: text{}, Groups: "registry security", Clearable: true,
		Doc: "ARN of an extra IAM policy for the rack's access to ECR, such as repositories in other accounts. Removing it can break image pulls that depend on it.",
	},
	{
		Name: "ecr_docker_hub_cache", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "registry",
		Doc: "Serves Docker Hub images through a pull-through cache in ECR, easing rate limits. It needs both Docker Hub credentials, and cached images are billed as ECR storage.",
	},
	{
		Name: "ecr_full_access", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "registry security",
		Doc: "Grants the rack full rather than limited permissions on ECR. It widens what a compromised workload could reach, so a narrower added policy is often the better choice.",
	},
	{
		Name: "ecr_immutable_tags_enabled", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "registry security",
		Doc: "Makes image tags in the rack's ECR repositories immutable. Any workflow that pushes a second image under the same tag is refused from then on.",
	},
	{
		Name: "ecr_scan_on_push_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "registry security",
		Doc: "Has ECR scan each image for known vulnerabilities when it is pushed. It reports findings without blocking deployments, and enhanced scanning is billed by AWS.",
	},
	{
		Name: "efs_csi_driver_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "storage",
		Doc: "Installs the driver that mounts Amazon EFS file systems as volumes shared between pods. Services with EFS volumes cannot start new pods once it is removed.",
	},
	{
		Name: "efs_csi_driver_version", Providers: AWS, Type: String, Default: "v2.3.0-eksbuild.2", Value: text{}, Groups: "storage versions", Managed: true,
		Doc: "Version of the EKS add-on that mounts EFS file systems. Rack updates choose it, and a forced version has to support the cluster's Kubernetes version.",
	},
	{
		Name: "eks_access_entries", Providers: AWS, Type: String, Default: "false", Value: oneOf("true", "false"), Groups: "security",
		Doc: "Lets IAM principals reach the EKS cluster through access entries rather than only the older config map. Once turned on it can never be turned off.",
	},
	{
		Name: "eks_api_server_private_access_cidrs", Providers: AWS, Type: String, Value: text{}, Groups: "network security", Clearable: true,
		Doc: "Comma-separated address ranges allowed to reach the private endpoint of the Kubernetes API. A list that leaves out your own network locks you out of that endpoint.",
	},
	{
		Name: "eks_api_server_public_access_cidrs", Providers: AWS, Type: String, Default: "0.0.0.0/0", Value: text{}, Groups: "network security", Managed: true,
		Doc: "Comma-separated address ranges allowed to reach the public endpoint of the Kubernetes API. Leaving out the addresses that manage the rack cuts off later updates.",
	},
	{
		Name: "eks_log_types", Providers: AWS, Type: String, Value: text{}, Groups: "logging security", Clearable: true,
		Doc: "Comma-separated kinds of EKS control plane logs that are sent to CloudWatch. Each kind adds ingestion cost, and audit logs in particular can be large.",
	},
	{
		Name: "enable_private_access", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "network security", Managed: true,
		Doc: "Opens a private endpoint to the cluster's Kubernetes API inside the VPC. It should be on and tested before the public endpoint is closed or narrowed.",
	},
	{
		Name: "envoy_cpu_request", Providers: AWS, Type: String, Default: "100m", Value: text{}, Groups: "ingress", Clearable: true,
		Doc: "CPU reserved for each Envoy proxy pod of the Contour router, as a Kubernetes quantity such as millicores. Changing it restarts the pods that carry incoming traffic.",
	},
	{
		Name: "envoy_memory_request", Providers: AWS, Type: String, Default: "256Mi", Value: text{}, Groups: "ingress", Clearable: true,
		Doc: "Memory reserved for each Envoy proxy pod of the Contour router, as a Kubernetes quantity such as mebibytes. Changing it restarts the pods that carry incoming traffic.",
	},
	{
		Name: "fast_image_pull_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "nodes",
		Doc: "Turns on faster pulling of container images on the rack's nodes. It changes how nodes are set up, so running nodes may be replaced to pick it up.",
	},
	{
		Name: "fluentd_disable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "logging",
		Doc: "Removes the Fluentd collector that ships container logs off the nodes. Destinations fed by it receive nothing afterwards, so a replacement collector should be running first.",
	},
	{
		Name: "fluentd_memory", Providers: AWS | GCP | Azure | DO | Metal, Type: String, Default: "200Mi", Value: memoryQuantity, Groups: "logging",
		Doc: "Memory for each Fluentd log collector pod, in mebibytes or gibibytes. It applies on every node, so raising it takes that much capacity away from services everywhere.",
	},
	{
		Name: "gpu_metrics_max_concurrent", Providers: AWS, Type: String, Default: "10", Value: between(1, 50), Groups: "gpu nodes", Clearable: true,
		Doc: "Caps how many GPU metric queries the rack runs at the same time. A higher cap answers sooner but puts more load on the metrics backend.",
	},
	{
		Name: "gpu_metrics_max_pods", Providers: AWS, Type: String, Default: "100", Value: between(1, 500), Groups: "gpu nodes", Clearable: true,
		Doc: "Caps how many pods one GPU metrics request covers. Racks with more GPU pods than the cap get an incomplete picture, while a higher cap makes requests heavier.",
	},
	{
		Name: "gpu_observability_chart_version", Providers: AWS | GCP, Type: String, Default: "4.8.1", Value: text{}, Groups: "gpu nodes versions", Clearable: true,
		Doc: "Version of the Helm chart that installs the GPU metrics exporter. Another version can rename metrics or need newer drivers, so dashboards should be checked after a change.",
	},
	{
		Name: "gpu_observability_enable", Providers: AWS | GCP, Type: Bool, Default: "false", Value: boolean{}, Groups: "gpu nodes",
		Doc: "Installs the exporter that publishes metrics of NVIDIA GPUs on the rack's nodes. It requires the NVIDIA device plugin to be enabled as well.",
	},
	{
		Name: "gpu_tag_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "gpu nodes",
		Doc: "Applies the rack's tags to GPU resources when nodes are launched. Some AWS regions do not support tagging them, and node launches can fail there.",
	},
	{
		Name: "grafana_dashboard_var_app", Providers: AWS, Type: String, Default: "app", Value: text{}, Groups: "logging nodes", Clearable: true,
		Doc: "Name of the Grafana dashboard variable that selects the app in links from the rack. It has to match the dashboard exactly, or links open unfiltered.",
	},
	{
		Name: "grafana_dashboard_var_namespace", Providers: AWS, Type: String, Default: "namespace", Value: text{}, Groups: "logging nodes", Clearable: true,
		Doc: "Name of the Grafana dashboard variable that selects the Kubernetes namespace in links from the rack. A name the dashboard lacks leaves the link unfiltered.",
	},
	{
		Name: "grafana_dashboard_var_rack", Providers: AWS, Type: String, Default: "rack", Value: text{}, Groups: "logging nodes", Clearable: true,
		Doc: "Name of the Grafana dashboard variable that selects the rack in links to it. It matters where one dashboard shows several racks and has to match its variable.",
	},
	{
		Name: "grafana_dashboard_var_service", Providers: AWS, Type: String, Default: "service", Value: text{}, Groups: "logging nodes", Clearable: true,
		Doc: "Name of the Grafana dashboard variable that selects the service in links from the rack. It has to equal the variable's own name, not its label.",
	},
	{
		Name: "grafana_url", Providers: AWS, Type: String, Value: text{}, Groups: "logging nodes", Clearable: true,
		Doc: "Address of the Grafana instance or dashboard that the rack links to for metrics. It only forms links, so people following them need their own access to Grafana.",
	},
	{
		Name: "high_availability", Providers: AWS | Azure | DO, Type: Bool, Default: "true", Value: boolean{}, Groups: "scaling security", InstallOnly: true,
		Doc: "Runs the rack with redundant nodes and system components. It is fixed at installation, and a rack without it is cheaper but is interrupted when a node fails.",
	},
	{
		Name: "idle_timeout", Providers: AWS | Azure, Type: Number, Default: "3600", Value: between(60, 4000), Groups: "ingress",
		Doc: "Seconds that a connection through the rack's load balancer may stay silent before it is closed. Long polls and websockets need a longer value or their own keepalives.",
	},
	{
		Name: "image", Providers: everywhere, Type: String, Default: "convox/convox", Value: text{}, Managed: true,
		Doc: "Container image repository from which the rack's own components are run. Rack updates manage it, and pointing it at an image without the rack's release breaks the rack.",
	},
	{
		Name: "imds_http_hop_limit", Providers: AWS, Type: Number, Default: "3", Value: anyNumber, Groups: "security",
		Doc: "Number of network hops allowed for instance metadata responses on nodes. Set too low, pods that read credentials or the region from the metadata service stop working.",
	},
	{
		Name: "imds_http_tokens", Providers: AWS, Type: String, Default: "optional", Value: oneOf("optional", "required"), Groups: "security",
		Doc: "Decides whether the instance metadata service on nodes demands session tokens. Requiring them blocks older SDKs that speak only the first version of the service.",
	},
	{
		Name: "imds_tags_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "security",
		Doc: "Exposes the EC2 tags of a node through its instance metadata service. Pods that can reach the service can read them, so tags should hold nothing secret.",
	},
	{
		Name: "internal_router", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "ingress network",
		Doc: "Adds a load balancer that is reachable only from inside the VPC, for services that must not be public. It is billed in addition to the public one.",
	},
	{
		Name: "internet_gateway_id", Providers: AWS, Type: String, Value: awsID("igw-"), Groups: "network", InstallOnly: true,
		Doc: "ID of the existing internet gateway to use when the rack is installed into an existing VPC. It has to be attached to that VPC and is fixed at installation.",
	},
	{
		Name: "k8s_version", Providers: AWS | GCP | Azure | DO, Type: String, Default: "1.34", Value: text{}, Groups: "versions", Managed: true,
		Doc: "Kubernetes version of the rack's cluster. Rack updates raise it one minor version at a time, and a managed cluster generally cannot go back to an earlier one.",
	},
	{
		Name: "karpenter_ami_alias", Providers: AWS, Type: String, Value: amiAlias, Groups: "karpenter", Clearable: true, Since: "3.25.6",
		Doc: "Amazon Linux image alias that nodes launched by Karpenter use, either pinned or following the newest. Moving the pin drifts existing nodes, which Karpenter then replaces.",
	},
	{
		Name: "karpenter_arch", Providers: AWS, Type: String, Value: oneOf("amd64", "arm64", "amd64,arm64"), Groups: "karpenter",
		Doc: "CPU architectures that Karpenter may launch for the workload pool; the node type decides when empty. Images have to be built for every architecture listed.",
	},
	{
		Name: "karpenter_auth_mode", Providers: AWS, Type: String, Default: "false", Value: oneOf("true", "false"), Groups: "karpenter",
		Doc: "Switches the cluster to the authentication mode that nodes launched by Karpenter need in order to join. It must precede Karpenter itself and cannot be undone.",
	},
	{
		Name: "karpenter_build_capacity_types", Providers: AWS, Type: String, Default: "on-demand", Value: oneOf("on-demand", "spot", "on-demand,spot"), Groups: "build karpenter",
		Doc: "Purchase options that Karpenter may use for build nodes. Spot capacity is cheaper, but a reclaimed node aborts the builds running on it.",
	},
	{
		Name: "karpenter_build_consolidate_after", Providers: AWS, Type: String, Default: "60s", Value: shortDuration, Groups: "build karpenter",
		Doc: "Time a build node must stay empty before Karpenter may remove it, as a duration. A longer wait keeps caches warm between builds but pays for idle nodes.",
	},
	{
		Name: "karpenter_build_cpu_limit", Providers: AWS, Type: Number, Default: "32", Value: atLeast(1), Groups: "build karpenter",
		Doc: "Caps the total vCPUs that Karpenter may provision for the build pool. Once it is reached, further builds wait until a build node goes away.",
	},
	{
		Name: "karpenter_build_disruption_budget_nodes", Providers: AWS, Type: String, Default: "100%", Value: budgetNodes, Groups: "build karpenter scaling", Since: "3.25.3",
		Doc: "Count or percentage of build nodes that Karpenter may remove at once because they are empty. Zero stops that cleanup, and on small pools unready nodes can use up a low allowance.",
	},
	{
		Name: "karpenter_build_imds_hop_limit", Providers: AWS, Type: Number, Default: "0", Value: anyNumber, Groups: "build security",
		Doc: "Number of network hops allowed for instance metadata responses on build nodes launched by Karpenter. Builds run in containers, so a low limit can cut them off from node credentials.",
	},
	{
		Name: "karpenter_build_imds_tokens", Providers: AWS, Type: String, Value: oneOf("optional", "required"), Groups: "build security", Clearable: true,
		Doc: "Decides whether the metadata service on Karpenter build nodes demands session tokens. Requiring them can break builds that use old SDKs to obtain AWS credentials.",
	},
	{
		Name: "karpenter_build_instance_families", Providers: AWS, Type: String, Value: instanceFamilies, Groups: "build karpenter", Clearable: true,
		Doc: "Comma-separated EC2 instance families for Karpenter build nodes; those of the workload pool apply when empty. At least one has to fit the build architecture.",
	},
	{
		Name: "karpenter_build_instance_sizes", Providers: AWS, Type: String, Value: instanceSizes, Groups: "build karpenter", Clearable: true,
		Doc: "Comma-separated EC2 instance sizes for Karpenter build nodes; those of the workload pool apply when empty. Sizes too small for a build's requests leave it pending.",
	},
	{
		Name: "karpenter_build_memory_limit_gb", Providers: AWS, Type: Number, Default: "256", Value: atLeast(1), Groups: "build karpenter",
		Doc: "Caps the total memory, in gibibytes, that Karpenter may provision for the build pool. Once it is reached, further builds wait until a build node goes away.",
	},
	{
		Name: "karpenter_build_node_labels", Providers: AWS, Type: String, Value: nodeLabels("convox.io/nodepool", "convox-build"), Groups: "build karpenter", Clearable: true,
		Doc: "Comma-separated key=value labels added to Karpenter build nodes. The labels that mark build nodes and their pool are reserved, and a change makes existing nodes drift.",
	},
	{
		Name: "karpenter_capacity_types", Providers: AWS, Type: String, Default: "on-demand", Value: oneOf("on-demand", "spot", "on-demand,spot"), Groups: "cost karpenter",
		Doc: "Purchase options that Karpenter may use for workload nodes. Spot capacity is cheaper but can be reclaimed at short notice, so services need more than one replica.",
	},
	{
		Name: "karpenter_config", Providers: AWS, Type: JSON, Value: karpenterConfig, Groups: "karpenter", Clearable: true,
		Doc: "JSON that overrides fields of the workload NodePool and its EC2NodeClass beyond the single parameters. Each key it sets replaces the generated one whole, disruption budgets included.",
	},
	{
		Name: "karpenter_consolidate_after", Providers: AWS, Type: String, Default: "30s", Value: shortDuration, Groups: "cost karpenter",
		Doc: "Time a workload node must go without pod changes before Karpenter considers consolidating it, as a duration. Short values save money sooner but move pods more often.",
	},
	{
		Name: "karpenter_consolidation_enabled", Providers: AWS, Type: Bool, Default: "true", Value: boolean{}, Groups: "cost karpenter",
		Doc: "Lets Karpenter repack underused workload nodes onto fewer or cheaper ones. When it is off, only empty nodes are removed, so partly used capacity stays paid for.",
	},
	{
		Name: "karpenter_cpu_limit", Providers: AWS, Type: Number, Default: "100", Value: atLeast(1), Groups: "karpenter",
		Doc: "Caps the total vCPUs that Karpenter may provision for the workload pool. At the cap, new pods stay pending; lowering it removes no running node.",
	},
	{
		Name: "karpenter_disruption_block_duration", Providers: AWS, Type: String, Value: blockDuration, Groups: "karpenter scaling", Clearable: true, Since: "3.25.6",
		Doc: "Length, in hours and minutes, of each window in which Karpenter replaces no drifted or underused node. It goes with the schedule and must end before the next firing.",
	},
	{
		Name: "karpenter_disruption_block_schedule", Providers: AWS, Type: String, Value: blockSchedule, Groups: "karpenter scaling", Clearable: true, Since: "3.25.6",
		Doc: "Cron expression, read in UTC, for the start of each window without drift or consolidation replacements. It goes with the duration and holds back neither node expiry nor empty-node removal.",
	},
	{
		Name: "karpenter_disruption_budget_nodes", Providers: AWS, Type: String, Default: "10%", Value: budgetNodes, Groups: "karpenter scaling",
		Doc: "Count or percentage of workload nodes that Karpenter may voluntarily disrupt at once. Zero halts drift and consolidation, but expired nodes are removed regardless.",
	},
	{
		Name: "karpenter_enabled", Providers: AWS, Type: String, Default: "false", Value: oneOf("true", "false"), Groups: "karpenter scaling",
		Doc: "Hands provisioning of the rack's workload nodes to Karpenter. It requires the Karpenter authentication mode and on-demand standard nodes, and other parameters are rechecked when it is turned on.",
	},
	{
		Name: "karpenter_instance_families", Providers: AWS, Type: String, Value: instanceFamilies, Groups: "karpenter", Clearable: true,
		Doc: "Comma-separated EC2 instance families that Karpenter may launch for workloads; any family when empty. At least one has to match the CPU architecture in use.",
	},
	{
		Name: "karpenter_instance_sizes", Providers: AWS, Type: String, Value: instanceSizes, Groups: "karpenter", Clearable: true,
		Doc: "Comma-separated EC2 instance sizes that Karpenter may launch for workloads; any size when empty. A narrow list leaves larger pods pending and makes capacity shortages likelier.",
	},
	{
		Name: "karpenter_memory_limit_gb", Providers: AWS, Type: Number, Default: "400", Value: atLeast(1), Groups: "karpenter",
		Doc: "Caps the total memory, in gibibytes, that Karpenter may provision for the workload pool. At the cap, new pods stay pending; lowering it removes no running node.",
	},
	{
		Name: "karpenter_node_disk", Providers: AWS, Type: Number, Default: "0", Value: atLeast(0), Groups: "karpenter storage",
		Doc: "Size, in gibibytes, of the root volume of nodes launched by Karpenter. A change makes existing nodes drift, so they are replaced within the disruption budget.",
	},
	{
		Name: "karpenter_node_expiry", Providers: AWS, Type: String, Default: "720h", Value: nodeExpiry, Groups: "karpenter",
		Doc: "Hours that a node launched by Karpenter lives before it is forcibly removed. Expiry ignores disruption budgets, and existing nodes keep the lifetime they were created with.",
	},
	{
		Name: "karpenter_node_labels", Providers: AWS, Type: String, Value: nodeLabels("convox.io/nodepool"), Groups: "karpenter nodes", Clearable: true,
		Doc: "Comma-separated key=value labels put on the workload nodes that Karpenter launches. The pool label is reserved, and a change makes existing nodes drift and be replaced.",
	},
	{
		Name: "karpenter_node_os", Providers: AWS, Type: String, Default: "al2023", Value: oneOf("al2023", "bottlerocket"), Groups: "karpenter",
		Doc: "Operating system family of nodes launched by Karpenter. A change replaces the nodes, and node scripts or host-level agents may not work on the other system.",
	},
	{
		Name: "karpenter_node_overlays_config", Providers: AWS, Type: JSON, Value: nodeOverlays, Groups: "karpenter", Clearable: true,
		Doc: "JSON list of Karpenter node overlays, which adjust the price or capacity that Karpenter assumes for instance types. Wrong figures steer it to poorly chosen instances.",
	},
	{
		Name: "karpenter_node_taints", Providers: AWS, Type: String, Value: nodeTaints, Groups: "karpenter nodes", Clearable: true,
		Doc: "Comma-separated taints put on the workload nodes that Karpenter launches. Pods without a matching toleration are no longer scheduled there, and a change makes existing nodes drift.",
	},
	{
		Name: "karpenter_node_volume_iops", Providers: AWS, Type: Number, Default: "0", Value: zeroOrBetween(3000, 80000), Groups: "karpenter storage",
		Doc: "Provisioned I/O operations per second for the root volume of nodes launched by Karpenter. It requires the gp3 volume type, and figures above the included baseline cost extra.",
	},
	{
		Name: "karpenter_node_volume_throughput", Providers: AWS, Type: Number, Default: "0", Value: zeroOrBetween(125, 1000), Groups: "karpenter storage",
		Doc: "Provisioned throughput, in MiB per second, of the root volume of nodes launched by Karpenter. It requires the gp3 volume type, and EC2 ties it to the IOPS figure.",
	},
	{
		Name: "karpenter_node_volume_type", Providers: AWS, Type: String, Default: "gp3", Value: oneOf("gp2", "gp3", "io1", "io2"), Groups: "karpenter storage",
		Doc: "EBS volume type of the root disk of nodes launched by Karpenter. The IOPS and throughput parameters apply to gp3 only, and a change replaces existing nodes.",
	},
	{
		Name: "karpenter_system_node_min_count_per_az", Providers: AWS, Type: Number, Default: "1", Value: between(1, 100), Groups: "karpenter scaling", Since: "3.25.7",
		Doc: "Smallest number of system nodes kept in each availability zone beside those that Karpenter launches. It is multiplied by the number of zones, so cost grows quickly.",
	},
	{
		Name: "keda_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "karpenter scaling",
		Doc: "Installs KEDA, which scales services on events such as queue length. Services that define such triggers stop scaling on them once it is turned off.",
	},
	{
		Name: "key_pair_name", Providers: AWS, Type: String, Value: keyPairName, Groups: "nodes security", Clearable: true,
		Doc: "Name of an existing EC2 key pair that allows SSH access to nodes. It is read at launch, so nodes have to be replaced before a new key works.",
	},
	{
		Name: "kube_proxy_version", Providers: AWS, Type: String, Default: "v1.34.3-eksbuild.2", Value: text{}, Groups: "versions", Managed: true,
		Doc: "Version of the EKS add-on that routes service traffic on each node. Rack updates choose it, and it has to stay within the skew the Kubernetes version allows.",
	},
	{
		Name: "kubelet_registry_burst", Providers: AWS, Type: Number, Default: "10", Value: anyNumber, Groups: "nodes",
		Doc: "Largest burst of image pulls that a node's kubelet allows for a short time. It has effect only while a pull rate is enforced and should exceed that rate.",
	},
	{
		Name: "kubelet_registry_pull_qps", Providers: AWS, Type: Number, Default: "5", Value: anyNumber, Groups: "nodes",
		Doc: "Image pulls per second that a node's kubelet allows as a steady rate. A higher rate speeds up node starts but can run into the registry's own limits.",
	},
	{
		Name: "max_on_demand_count", Providers: AWS | Azure, Type: Number, Default: "100", Value: between(0, 1350), Groups: "scaling",
		Doc: "Caps the number of on-demand nodes, chiefly on racks that mix them with spot nodes. At the cap, pods that find no other capacity stay pending.",
	},
	{
		Name: "min_on_demand_count", Providers: AWS | Azure, Type: Number, Default: "1", Value: atLeast(1), Groups: "scaling",
		Doc: "Smallest number of on-demand nodes kept running, chiefly on racks that mix them with spot nodes. It is the capacity that remains when spot nodes are reclaimed.",
	},
	{
		Name: "name", Providers: everywhere, Type: String, Value: text{}, Managed: true,
		Doc: "Name from which the cluster and the rack's other cloud resources take theirs. Rack updates maintain it, and a forced change can make Terraform recreate those resources.",
	},
	{
		Name: "network_policy_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "security",
		Doc: "Turns on enforcement of Kubernetes network policies between pods. Policies that were stored without effect start to apply at once and may cut off traffic.",
	},
	{
		Name: "nginx_additional_config", Providers: AWS | GCP | Azure, Type: String, Value: text{}, Groups: "ingress", Clearable: true,
		Doc: "Extra settings for the NGINX ingress controller of the rack. They reach every app, and a setting that NGINX cannot load can stop routing changes from taking effect.",
	},
	{
		Name: "nginx_image", Providers: AWS | Azure, Type: String, Default: "registry.k8s.io/ingress-nginx/controller:v1.12.6@sha256:c371fbf42b4f23584ce879d99303463131f4f31612f0875482b983354eeca7e6", Value: text{}, Groups: "ingress versions", Managed: true,
		Doc: "Container image of the NGINX ingress controller. Rack updates move it to a tested build, and a forced image that does not match the rack can interrupt incoming traffic.",
	},
	{
		Name: "nlb_security_group", Providers: AWS, Type: String, Value: awsID("sg-"), Groups: "network security", Clearable: true,
		Doc: "ID of the security group for the rack's network load balancer. Its inbound rules decide who reaches every app, and AWS may require a new load balancer to apply it.",
	},
	{
		Name: "node_capacity_type", Providers: AWS, Type: String, Default: "on_demand", Value: anyCase("on_demand", "spot", "mixed"), Groups: "cost nodes",
		Doc: "Purchase option of the rack's standard nodes. Spot nodes cost less but can be reclaimed at any time, and the value cannot change while Karpenter is enabled.",
	},
	{
		Name: "node_disk", Providers: AWS | GCP | Azure, Type: Number, Default: "20", Value: atLeast(20), Groups: "nodes storage",
		Doc: "Size, in gigabytes, of the disk of each node, which holds images and container data. Existing nodes are replaced to get the new size.",
	},
	{
		Name: "node_max_unavailable_percentage", Providers: AWS, Type: Number, Default: "0", Value: between(0, 100), Groups: "nodes scaling",
		Doc: "Percentage of a node group's nodes that may be unavailable at once during a node update. A high value finishes sooner but takes away more capacity meanwhile.",
	},
	{
		Name: "node_type", Providers: AWS | GCP | Azure | DO, Type: String, Default: "t3.small", Value: instanceTypes, Groups: "nodes",
		Doc: "Instance or machine type of the rack's standard nodes. A change replaces the nodes, and moving to another CPU architecture needs images built for it.",
	},
	{
		Name: "node_volume_iops", Providers: AWS, Type: Number, Default: "0", Value: zeroOrBetween(3000, 80000), Groups: "nodes storage",
		Doc: "Provisioned I/O operations per second for the root volume of standard nodes. Figures above the included baseline cost extra, and nodes are replaced to apply them.",
	},
	{
		Name: "node_volume_throughput", Providers: AWS, Type: Number, Default: "0", Value: zeroOrBetween(125, 1000), Groups: "nodes storage",
		Doc: "Provisioned throughput, in MiB per second, of the root volume of standard nodes. EC2 ties it to the IOPS figure, and nodes are replaced to apply it.",
	},
	{
		Name: "nvidia_device_plugin_enable", Providers: AWS | Azure, Type: Bool, Default: "false", Value: boolean{}, Groups: "gpu nodes",
		Doc: "Installs the NVIDIA plugin that lets pods request GPUs. Without it GPU services cannot be scheduled, and GPU metrics depend on it as well.",
	},
	{
		Name: "nvidia_device_time_slicing_replicas", Providers: AWS | Azure, Type: Number, Default: "0", Value: atLeast(0), Groups: "gpu nodes",
		Doc: "Number of shares that each NVIDIA GPU is offered as through time slicing. Shares have no memory isolation, so one pod can starve the others on the same GPU.",
	},
	{
		Name: "os", Providers: Local, Type: String, Value: text{}, Groups: "nodes",
		Doc: "Operating system of the machine that hosts a local rack. It has to match that machine, because the local setup depends on it.",
	},
	{
		Name: "pdb_default_min_available_percentage", Providers: AWS | Azure, Type: Number, Default: "50", Value: between(-1, 101), Groups: "scaling",
		Doc: "Percentage of a service's pods that its generated disruption budget keeps available. A value that permits no eviction blocks node drains, and so updates and consolidation.",
	},
	{
		Name: "pod_identity_agent_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "security",
		Doc: "Installs the EKS Pod Identity agent, through which pods obtain credentials of their own IAM role. Services that use it lose AWS access when it is removed.",
	},
	{
		Name: "pod_identity_agent_version", Providers: AWS, Type: String, Default: "v1.3.10-eksbuild.2", Value: text{}, Groups: "versions", Managed: true,
		Doc: "Version of the EKS add-on that hands IAM credentials to pods. Rack updates choose it, and it matters only while that agent is enabled.",
	},
	{
		Name: "pod_imds_block_enabled", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "security",
		Doc: "Blocks pods from reaching the instance metadata service of their node. Services that borrow the node's AWS credentials need a role of their own before it is turned on.",
	},
	{
		Name: "pod_security_mode", Providers: AWS, Type: String, Default: "warn", Value: oneOf("warn", "audit", "enforce"), Groups: "security",
		Doc: "Decides whether breaches of the chosen pod security standard are only reported or rejected. Rejecting affects pods as they are created, so the reports deserve a look first.",
	},
	{
		Name: "pod_security_standard", Providers: AWS, Type: String, Value: oneOf("baseline", "restricted"), Groups: "security", Clearable: true,
		Doc: "Kubernetes pod security standard that app pods are measured against. A stricter standard rules out root users and other privileges that images may rely on when it is enforced.",
	},
	{
		Name: "preemptible", Providers: GCP, Type: String, Value: text{}, Groups: "nodes",
		Doc: "Runs the cluster on preemptible Google Cloud machines. They are cheaper but last a day at most and can be stopped at any time, which suits test racks.",
	},
	{
		Name: "private", Providers: AWS, Type: Bool, Default: "true", Value: boolean{}, InstallOnly: true,
		Doc: "Places nodes in private subnets that reach the internet through NAT gateways. It is fixed at installation, and the gateways add hourly and traffic charges.",
	},
	{
		Name: "private_eks_host", Providers: AWS, Type: String, Value: text{}, Groups: "network security", Clearable: true, Sensitive: true,
		Doc: "Host through which the cluster's Kubernetes API is reached when it has no public endpoint. It has to stay reachable from where the rack is managed.",
	},
	{
		Name: "private_eks_pass", Providers: AWS, Type: String, Value: text{}, Groups: "security", Clearable: true, Sensitive: true,
		Doc: "Password for reaching the cluster's Kubernetes API through the private host. It goes together with the matching user name, and both have to change at the same time.",
	},
	{
		Name: "private_eks_user", Providers: AWS, Type: String, Value: text{}, Groups: "security", Clearable: true, Sensitive: true,
		Doc: "User name for reaching the cluster's Kubernetes API through the private host. It goes together with the matching password, and neither is of use alone.",
	},
	{
		Name: "private_subnets_ids", Providers: AWS, Type: String, Value: subnetIDs, Groups: "network", InstallOnly: true,
		Doc: "Comma-separated IDs of existing subnets for the rack's private nodes. They have to belong to the given VPC and have outbound routes, and are fixed at installation.",
	},
	{
		Name: "prometheus_gpu_metrics_chart_version", Providers: AWS, Type: String, Default: "27.9.0", Value: text{}, Groups: "gpu nodes versions", Clearable: true,
		Doc: "Version of the Helm chart for the Prometheus that stores GPU metrics. Charts can change their values and storage layout between versions, so metrics may be interrupted.",
	},
	{
		Name: "prometheus_gpu_metrics_retention", Providers: AWS, Type: String, Default: "24h", Value: text{}, Groups: "gpu nodes", Clearable: true,
		Doc: "Time that the Prometheus for GPU metrics keeps samples, as a duration. A longer time needs more storage, and a shorter one drops older samples for good.",
	},
	{
		Name: "prometheus_url", Providers: AWS, Type: String, Value: text{}, Groups: "gpu logging nodes", Clearable: true,
		Doc: "Address of a Prometheus server from which the rack reads metrics. It has to be reachable from inside the cluster, and graphs stay empty when it is not.",
	},
	{
		Name: "proxy_protocol", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "ingress network",
		Doc: "Passes the client's source address from the load balancer to the router through the PROXY protocol. Switching it interrupts incoming traffic for several minutes while both sides change over.",
	},
	{
		Name: "public_subnets_ids", Providers: AWS, Type: String, Value: subnetIDs, Groups: "network", InstallOnly: true,
		Doc: "Comma-separated IDs of existing subnets for the rack's public load balancers. They have to belong to the given VPC and route to its internet gateway, and are fixed at installation.",
	},
	{
		Name: "rack_name", Providers: everywhere, Type: String, Value: text{}, Managed: true,
		Doc: "Name by which the rack is known to its own components and tools. Rack updates maintain it, and forcing another can leave them looking for the wrong rack.",
	},
	{
		Name: "region", Providers: AWS | GCP | Azure | DO, Type: String, Default: "us-east-1", Value: text{}, InstallOnly: true,
		Doc: "Cloud region in which the rack is installed. It is fixed at installation, so moving to another region means installing a second rack and migrating the apps.",
	},
	{
		Name: "registry_disk", Providers: DO | Metal, Type: String, Value: text{}, Groups: "storage",
		Doc: "Size of the disk behind the rack's own image registry. Builds fail when it fills up, and a disk can usually grow but not shrink.",
	},
	{
		Name: "release", Providers: everywhere, Type: String, Value: text{}, Managed: true,
		Doc: "Rack release that is installed. Rack updates set it, and forcing it skips the checks and steps that an update runs between releases.",
	},
	{
		Name: "release_watcher_gc_interval", Providers: AWS, Type: String, Default: "5m", Value: durationBetween("60s", "1h"), Groups: "retention", Clearable: true,
		Doc: "Time between garbage collection passes of the rack's release watcher, as a duration. Shorter intervals clean up sooner at the price of more calls to the API.",
	},
	{
		Name: "releases_to_retain_after_active", Providers: AWS, Type: Number, Default: "0", Value: atLeast(0), Groups: "retention",
		Doc: "Number of older releases of each app kept behind the active one when cleanup runs. Releases that were cleaned up can no longer be rolled back to.",
	},
	{
		Name: "releases_to_retain_task_run_interval_hour", Providers: AWS, Type: Number, Default: "24", Value: atLeast(1), Groups: "retention",
		Doc: "Hours between runs of the task that cleans up old releases. It only sets the pace; how many releases survive is decided by the retention count.",
	},
	{
		Name: "router_type", Providers: AWS, Type: String, Default: "nginx", Value: oneOf("nginx", "contour"), Groups: "ingress network",
		Doc: "Selects the ingress controller that routes traffic to apps. A switch replaces the router, so settings specific to the old one stop applying and traffic may be interrupted.",
	},
	{
		Name: "schedule_rack_scale_down", Providers: AWS, Type: String, Value: scaleSchedule, Groups: "scaling", Clearable: true,
		Doc: "Cron expression, read in UTC, for when the rack's nodes are scaled down. Everything on the rack stops until the scale-up time, and both have to be set together.",
	},
	{
		Name: "schedule_rack_scale_up", Providers: AWS, Type: String, Value: scaleSchedule, Groups: "scaling", Clearable: true,
		Doc: "Cron expression, read in UTC, for when a scaled-down rack gets its nodes back. Services need time to start, so it should fire well before they are needed.",
	},
	{
		Name: "seccomp_default_enabled", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "security",
		Doc: "Applies the container runtime's seccomp profile to pods that do not name one. Programs that use system calls outside that profile fail, as some profilers do.",
	},
	{
		Name: "secret_key", Providers: DO, Type: String, Value: text{}, Groups: "security", Sensitive: true, InstallOnly: true,
		Doc: "Secret half of the DigitalOcean Spaces key pair that the rack uses for object storage. It belongs to the matching access ID and is fixed at installation.",
	},
	{
		Name: "settings", Providers: AWS | GCP | Azure | DO | Local, Type: String, Value: text{}, Managed: true,
		Doc: "Internal settings value that the installer hands to Terraform for this rack. Rack updates maintain it, so a forced change can leave the rack's state out of step.",
	},
	{
		Name: "ssl_ciphers", Providers: AWS | Azure, Type: String, Value: cipherList, Groups: "ingress security", Clearable: true,
		Doc: "Colon-separated TLS ciphers that the NGINX router offers to clients, in OpenSSL naming. Clients that share none of them can no longer connect to any app.",
	},
	{
		Name: "ssl_protocols", Providers: AWS | Azure, Type: String, Value: protocolList, Groups: "ingress security", Clearable: true,
		Doc: "Space-separated TLS protocol versions that the NGINX router accepts. Dropping old ones improves security but shuts out clients that support nothing newer.",
	},
	{
		Name: "sync_tf_now", Providers: everywhere, Type: String, Value: text{},
		Doc: "Marker whose change triggers a Terraform run for the rack without altering other settings. That run also applies any changes that were still outstanding.",
	},
	{
		Name: "syslog", Providers: AWS | GCP | Azure | DO | Metal, Type: String, Value: syslogURL, Groups: "logging", Clearable: true,
		Doc: "Address, with protocol and optional port, of a syslog server that receives the rack's logs. The nodes need network access to it, and plain protocols send logs unencrypted.",
	},
	{
		Name: "system_readonly_rootfs_enabled", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "security",
		Doc: "Runs the rack's system containers with a read-only root file system. It hardens the system pods, which restart when it changes; app containers are a separate matter.",
	},
	{
		Name: "tags", Providers: AWS | Azure, Type: String, Value: tagList, Groups: "cost security", Clearable: true,
		Doc: "Comma-separated key=value tags put on the cloud resources of the rack. Billing reports and access policies may depend on them, and a change can replace nodes.",
	},
	{
		Name: "telemetry", Providers: AWS | GCP | Azure | DO | Local, Type: Bool, Default: "false", Value: boolean{}, Groups: "logging",
		Doc: "Sends usage information about the rack to Convox. Network policies or firewalls that restrict outbound traffic have to allow it for the reports to arrive.",
	},
	{
		Name: "terraform_update_timeout", Providers: AWS | GCP | Azure | DO, Type: String, Default: "2h", Value: text{}, Groups: "scaling",
		Doc: "Longest time that Terraform waits for node updates of the rack, as a duration. Racks with many nodes or slow drains need more, or the update fails halfway.",
	},
	{
		Name: "token", Providers: DO, Type: String, Value: text{}, Groups: "security", Sensitive: true, InstallOnly: true,
		Doc: "DigitalOcean API token with which the rack manages its resources. It is fixed at installation, so revoking it at the provider breaks later updates of the rack.",
	},
	{
		Name: "user_data", Providers: AWS, Type: String, Value: text{}, Groups: "nodes", Clearable: true,
		Doc: "Script that runs on each standard node when it boots. An error in it can keep nodes from joining the cluster, and existing nodes are replaced to run it.",
	},
	{
		Name: "user_data_url", Providers: AWS, Type: String, Value: webURL, Groups: "nodes", Clearable: true,
		Doc: "Address of a script that each standard node downloads and runs when it boots. New nodes depend on that address, so it has to stay reachable and trustworthy.",
	},
	{
		Name: "vpa_enable", Providers: AWS, Type: Bool, Default: "false", Value: boolean{}, Groups: "scaling",
		Doc: "Installs the Vertical Pod Autoscaler, which tunes the resource requests of services that use it. Applying a new request may restart pods.",
	},
	{
		Name: "vpc_cni_version", Providers: AWS, Type: String, Default: "v1.21.1-eksbuild.3", Value: text{}, Groups: "versions", Managed: true,
		Doc: "Version of the EKS add-on that gives pods their VPC addresses. Rack updates choose it, and a poor match can keep new pods from getting a network.",
	},
	{
		Name: "vpc_id", Providers: AWS, Type: String, Value: awsID("vpc-"), Groups: "network", InstallOnly: true,
		Doc: "ID of an existing VPC into which the rack is installed instead of creating one. It is fixed at installation and goes with the gateway and subnet parameters.",
	},
	{
		Name: "webhook_signing_key", Providers: everywhere, Type: String, Value: text{}, Groups: "security", Sensitive: true,
		Doc: "Secret key with which the rack signs the webhooks it sends. Receivers that verify signatures reject them after a change until they hold the new key.",
	},
	{
		Name: "whitelist", Providers: AWS | GCP | Azure | DO | Metal, Type: String, Default: "0.0.0.0/0", Value: text{}, Groups: "network security",
		Doc: "Comma-separated address ranges allowed to reach the rack's load balancer. It covers every app on the rack, so a list that is too narrow shuts out users and tooling.",
	},
}
