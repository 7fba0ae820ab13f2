/** Location of a secret, never its value. */
export type SecretSource =
  | { readonly source: 'environment'; readonly name: string }
  | { readonly source: 'file'; readonly path: string }

export interface Setting<Value> {
  /** Flag without dashes, and key in the config file: `api-listen`. */
  readonly name: string
  readonly description: string
  readonly defaultText: string
  /** Never printed. Read from a variable or the file named by `<VARIABLE>_FILE`, but not from a flag. */
  readonly secret?: true
  /** Parses the text; not called for secrets. @throws Error that states the expected form */
  readonly parse: (text: string) => Value
}

export const setting = <Value>(definition: Omit<Setting<Value>, 'secret'>): Setting<Value> => definition

/** The setting's value is the secret's source; null if not set. */
export const secretSetting = (
  definition: Pick<Setting<unknown>, 'name' | 'description'>,
): Setting<SecretSource | null> => ({ ...definition, defaultText: '', secret: true, parse: () => null })

/** Returns the environment variable that passes the secret to another process; empty if the setting isn't set. */
export const secretVariable = (
  { name }: Setting<SecretSource | null>,
  source: SecretSource | null,
): Readonly<Record<string, string>> => {
  if (source === null) return {}
  if (source.source === 'file') return { [`${variableOf(name)}_FILE`]: source.path }
  return { [variableOf(name)]: process.env[source.name] ?? '' }
}

/** `api-listen` → `COUNTERSIGN_API_LISTEN`. */
export const variableOf = (name: string): string => `COUNTERSIGN_${name.replaceAll('-', '_').toUpperCase()}`
