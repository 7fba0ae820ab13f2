// Lists that a policy names and that do not exist. A list must exist before a policy may name it.

/** Returns the names, from the messages of the policy check; a test compares the two. */
export const missingLists = (issues: readonly { readonly message: string }[]): ReadonlySet<string> =>
  new Set(issues.flatMap(({ message }) => /^unknown list "([a-z0-9_]+)"/.exec(message)?.[1] ?? []))
