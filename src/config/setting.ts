// Declares one setting: flag, variable, default, parser and help text.

/** Location of a secret, never its value. */
export type SecretSource =
  | { readonly source: 'environment'; readonly name: string }
  | { readonly source: 'file'; readonly path: string }

export interface Setting<Value> {
  /** The flag without dashes, which is also the key in the config file: `api-listen`. */
  readonly name: string
  readonly description: string
  readonly defaultText: string
  /** Secrets may be read from a file named by `<VARIABLE>_FILE`, but not from a flag. They are never printed. */
  readonly secret?: true
  /** Not called for secrets. @throws Error whose message states the expected form */
  readonly parse: (text: string) => Value
}

export const setting = <Value>(definition: Omit<Setting<Value>, 'secret'>): Setting<Value> => definition

/** Declares a secret. The value of the setting is the secret's source; null if it is not set. */
export const secretSetting = (
  definition: Pick<Setting<unknown>, 'name' | 'description'>,
): Setting<SecretSource | null> => ({ ...definition, defaultText: '', secret: true, parse: () => null })

/** Returns a secret setting as an environment variable for another process. Empty if it is not set. */
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
