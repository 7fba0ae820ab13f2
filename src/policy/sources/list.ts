// Fact sources; each is queried at most once per request.
// biome-ignore-all lint/performance/noBarrelFile: each source is in use wherever the list is
export { BASE_FEE } from './base-fee.ts'
export { GEOGRAPHY } from './geography.ts'
export { IDENTITY, ON_BEHALF_IDENTITY } from './identity.ts'
export { IDENTITY_DETAILS } from './identity-details.ts'
