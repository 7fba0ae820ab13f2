// Declarations for the command of an operation that can't be derived from its path and schemas.

/** Looks up the id of a path parameter or field in the response of another operation. */
export interface Lookup {
  /** Id of a list operation of the same organization or deployment. */
  readonly in: string
  /** Members compared with the given text, the id first. */
  readonly by: readonly [id: string, ...others: string[]]
  /** Without --org, searches all organizations. Only for ids, because names aren't unique. */
  readonly everywhere?: true
  /** The list's query members are also options, which select among equal items. */
  readonly narrows?: true
}

export interface FieldOverride {
  /** Name of the option. Defaults to the field's name without its unit. */
  readonly option?: string
  /** Placeholder in the help, such as `SLUG`, if the value is a word after the verb instead of an option. */
  readonly word?: string
  /** The option is a path of a file with the value: a text, or bytes that are sent as base64. */
  readonly file?: 'text' | 'base64'
  readonly find?: Lookup
}

export interface CommandOverride {
  /** Noun and verb. Defaults to a name derived from path and method. */
  readonly name?: `${string} ${string}`
  /** By path parameter or field: `project`, `rate_limit.burst`. */
  readonly fields?: Readonly<Record<string, FieldOverride>>
  /** Member of the response that is shown once. It is printed alone on stdout, and the rest on stderr. */
  readonly secret?: string
  /** The command requests confirmation at a terminal. Always true for DELETE. */
  readonly irreversible?: true
  /** Number of list items without --limit. Defaults to all. */
  readonly limit?: number
  /** Without --org, the command applies to the whole deployment instead of the default organization. */
  readonly wholeDeployment?: true
  /** Name of the flag that selects the deployment. Defaults to `deployment`. */
  readonly deploymentFlag?: string
  /** Name of the option for the author of a change. If undefined, there is no such option. */
  readonly author?: string
  /** Returns warnings about records of the response, for stderr. */
  warn?(record: Readonly<Record<string, unknown>>): string | null
  /** Returns whether the command must exit with 1. */
  fails?(answer: Readonly<Record<string, unknown>>): boolean
}
