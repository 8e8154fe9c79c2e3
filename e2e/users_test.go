package e2e

import (
	"net/http"
	"testing"

	"rackparams/e2e/cluster"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUsers shows that the users but Admin may do what RBAC lets them, and nothing else, so that scripts can rely on it.
func TestUsers(t *testing.T) {
	c := sharedCluster(t)
	ctx := t.Context()
	list := func(user string) error {
		_, err := c.As(user).Get(ctx, "nodepools", "", "")
		return err
	}
	require.NoError(t, list(cluster.Admin))
	for _, user := range []string{cluster.Alice, cluster.Bob} {
		var refusal *cluster.StatusError
		require.ErrorAs(t, list(user), &refusal, user)
		assert.Equal(t, http.StatusForbidden, refusal.Code)
	}

	grants, err := cluster.Objects([]byte(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: nodepool-reader}
rules: [{apiGroups: [karpenter.sh], resources: [nodepools], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: nodepool-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nodepool-reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
`))
	require.NoError(t, err)
	for _, grant := range grants {
		stored, _, err := c.As(cluster.Admin).Apply(ctx, grant, "", cluster.ApplyOptions{})
		require.NoError(t, err)
		defer func() { assert.NoError(t, c.As(cluster.Admin).Remove(ctx, stored)) }()
	}
	// The authorizer hears of a new role a moment later.
	require.EventuallyWithT(t, func(t *assert.CollectT) { assert.NoError(t, list(cluster.Alice)) }, commandTimeout, cluster.PollInterval)
	assert.Error(t, list(cluster.Bob))
}
