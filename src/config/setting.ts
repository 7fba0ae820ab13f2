// The declaration of one setting: its flag, its variable, its default, its check and its help line.

/** Where a secret is to be read; never the secret itself. */
export type SecretSource =
  | { readonly source: 'environment'; readonly name: string }
  | { readonly source: 'file'; readonly path: string }

export interface Setting<Value> {
  /** The flag without dashes and the key in the config file: `api-listen`. */
  readonly name: string
  readonly description: string
  readonly defaultText: string
  /** Secrets may come from a file named by `<VARIABLE>_FILE`, never from a flag, and are never printed. */
  readonly secret?: true
  /** Not called for secrets. @throws Error whose message says what is expected. */
  readonly parse: (text: string) => Value
}

export const setting = <Value>(definition: Omit<Setting<Value>, 'secret'>): Setting<Value> => definition

/** A setting whose value is where to read it; null if it is not set. */
export const secretSetting = (
  definition: Pick<Setting<unknown>, 'name' | 'description'>,
): Setting<SecretSource | null> => ({ ...definition, defaultText: '', secret: true, parse: () => null })

/** A secret's setting as an environment variable for another process; empty if it is not set. */
export const secretVariable = (
  { name }: Setting<SecretSource | null>,
  source: SecretSource | null,
): Readonly<Record<string, string>> => {
  if (source === null) return {}
  if (source.source === 'file') return { [`${variableOf(name)}_FILE`]: source.path }
  return { [variableOf(name)]: process.env[source.name] ?? '' }
}

/** `COUNTERSIGN_API_LISTEN` for `api-listen`. */
export const variableOf = (name: string): string => `COUNTERSIGN_${name.replaceAll('-', '_').toUpperCase()}`
