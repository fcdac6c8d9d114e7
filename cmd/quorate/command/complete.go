package command

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
)

// completionTimeout bounds the wait of a shell for the names of members.
const completionTimeout = 2 * time.Second

// completeMembers offers, for the first argument, the names of the members that suit accepts. It
// offers none if no node responds: a shell shows no errors.
func (a *access) completeMembers(suit func(admin.Member) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		var names []string
		err := a.ask(ctx, func(ctx context.Context, c *operator.Client) error {
			members, err := c.Members(ctx)
			for _, m := range members {
				if suit(m) {
					names = append(names, m.Name)
				}
			}
			return err
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
