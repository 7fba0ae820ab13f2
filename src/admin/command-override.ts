// Declares parts of a command that can't be derived from the operation's path and schemas.

export interface Lookup {
  /** Id of a list operation for the same organization or deployment. */
  readonly in: string
  /** Members to compare with the given text, id first. */
  readonly by: readonly [id: string, ...others: string[]]
  /** Searches all organizations without --org. Only for ids, because names aren't unique. */
  readonly everywhere?: true
  /** Adds the list's query members as options, to select among equal items. */
  readonly narrows?: true
}

export interface FieldOverride {
  /** Defaults to the field's name without its unit. */
  readonly option?: string
  /** Placeholder in the help, such as `SLUG`, for a positional value. */
  readonly word?: string
  /** The option is the path of a file with the value: text, or bytes to send as base64. */
  readonly file?: 'text' | 'base64'
  readonly find?: Lookup
}

export interface CommandOverride {
  /** Noun and verb. Defaults to a name derived from path and method. */
  readonly name?: `${string} ${string}`
  /** Keyed by path parameter or field: `project`, `rate_limit.burst`. */
  readonly fields?: Readonly<Record<string, FieldOverride>>
  /** Member shown once: printed alone on stdout, and the rest on stderr. */
  readonly secret?: string
  /** Requires confirmation at a terminal. Always true for DELETE. */
  readonly irreversible?: true
  /** Number of list items without --limit. Defaults to all. */
  readonly limit?: number
  /** Without --org, applies to the whole deployment instead of the default organization. */
  readonly wholeDeployment?: true
  /** Flag that selects the deployment. Defaults to `deployment`. */
  readonly deploymentFlag?: string
  /** Option for the author of a change, if any. */
  readonly author?: string
  warn?(record: Readonly<Record<string, unknown>>): string | null
  /** Returns true if the command must exit with 1. */
  fails?(answer: Readonly<Record<string, unknown>>): boolean
}

/** Names the options of nested members without the object's path. */
export const memberOptions = (
  path: string,
  { properties }: { readonly properties: object },
): Readonly<Record<string, FieldOverride>> =>
  Object.fromEntries(Object.keys(properties).map((name) => [`${path}.${name}`, { option: name.replaceAll('_', '-') }]))
