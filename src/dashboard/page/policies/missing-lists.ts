/** Parses the names of missing lists from the messages of the policy check; a test compares the two. */
export const missingLists = (issues: readonly { readonly message: string }[]): ReadonlySet<string> =>
  new Set(issues.flatMap(({ message }) => /^unknown list "([a-z0-9_]+)"/.exec(message)?.[1] ?? []))
