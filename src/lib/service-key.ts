// Typed keys for values that one part provides and another uses, so that neither part imports the other.

export interface ServiceKey<Value> {
  readonly name: string
  /** Exists only for the compiler; never set. */
  readonly type?: Value
}

export const serviceKey = <Value>(name: string): ServiceKey<Value> => ({ name })

/** Created by `provide`. */
export type ProvidedService = readonly [key: ServiceKey<unknown>, value: unknown]

export const provide = <Value>(key: ServiceKey<Value>, value: Value): ProvidedService => [key, value]

export type FindService = <Value>(key: ServiceKey<Value>) => Value | null

export const findServiceAmong = (provided: readonly ProvidedService[]): FindService => {
  const services = new Map(provided)
  return <Value>(key: ServiceKey<Value>) => (services.get(key) ?? null) as Value | null
}

export const requireService = <Value>(find: FindService, key: ServiceKey<Value>): Value => {
  const service = find(key)
  if (service === null) throw new Error(`nothing provides the service ${key.name}`)
  return service
}
