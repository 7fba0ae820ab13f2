// The command line's part of an operation's declaration: what can't be derived from its path and schemas.

/** Finds the id of a path parameter or a field in the answer of another operation. */
export interface Lookup {
  /** Operation id of a list of the same organization or deployment. */
  readonly in: string
  /** Members that may be equal to the given text, the id first. */
  readonly by: readonly [id: string, ...others: string[]]
  /** Without --org, looks in every organization. For ids only: names repeat. */
  readonly everywhere?: true
  /** The list's query members are options too, which choose among items that are equal. */
  readonly narrows?: true
}

export interface FieldOverride {
  /** Name of the option. Defaults to the field's name without its unit. */
  readonly option?: string
  /** Given as a word after the verb instead of an option. The text names it in the help: `SLUG`. */
  readonly word?: string
  /** The option names a file with the value: a text, or bytes that are sent in base64. */
  readonly file?: 'text' | 'base64'
  readonly find?: Lookup
}

export interface CommandOverride {
  /** Noun and verb. Defaults to a name derived from the path and the method. */
  readonly name?: `${string} ${string}`
  /** By path parameter or field: `project`, `rate_limit.burst`. */
  readonly fields?: Readonly<Record<string, FieldOverride>>
  /** Member of the answer that is shown once. It is printed alone on stdout, and the rest on stderr. */
  readonly secret?: string
  /** At a terminal, the command asks first. Always so for DELETE. */
  readonly irreversible?: true
  /** Items of a list unless --limit is given. Defaults to all. */
  readonly limit?: number
  /** Without --org the command concerns the whole deployment, not the default organization. */
  readonly wholeDeployment?: true
  /** Name of the flag for the deployment's own. Defaults to `deployment`. */
  readonly deploymentFlag?: string
  /** Name of the option that names the author of a change. Defaults to no such option. */
  readonly author?: string
  /** Warnings about the answer's record or records, for stderr. */
  warn?(record: Readonly<Record<string, unknown>>): string | null
  /** Whether the answer means that the command ends with 1. */
  fails?(answer: Readonly<Record<string, unknown>>): boolean
}
