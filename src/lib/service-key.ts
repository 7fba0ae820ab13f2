// Values that one part provides and another one uses, found by a key that both import: the key fixes the type, and
// neither part imports the other.

export interface ServiceKey<Value> {
  readonly name: string
  /** For the compiler: no key has this member. */
  readonly type?: Value
}

/** @param name for error messages */
export const serviceKey = <Value>(name: string): ServiceKey<Value> => ({ name })

/** A key with its value. Made by `provide`. */
export type ProvidedService = readonly [key: ServiceKey<unknown>, value: unknown]

export const provide = <Value>(key: ServiceKey<Value>, value: Value): ProvidedService => [key, value]

/** Returns null if nothing provides the service. */
export type FindService = <Value>(key: ServiceKey<Value>) => Value | null

export const findServiceAmong = (provided: readonly ProvidedService[]): FindService => {
  const services = new Map(provided)
  return <Value>(key: ServiceKey<Value>) => (services.get(key) ?? null) as Value | null
}

/** For a service of the same module. */
export const requireService = <Value>(find: FindService, key: ServiceKey<Value>): Value => {
  const service = find(key)
  if (service === null) throw new Error(`nothing provides the service ${key.name}`)
  return service
}
