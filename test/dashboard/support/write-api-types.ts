// Writes the types of the dashboard's API client anew: `bun test/dashboard/support/write-api-types.ts`. After any change of
// the admin API's routes.
import { API_TYPES, apiTypes } from './api-types.ts'

await Bun.write(API_TYPES, apiTypes())
await Bun.$`bunx biome check --write ${API_TYPES}`.quiet()
