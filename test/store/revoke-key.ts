// A process that change-feed.test.ts starts: revokes the key in its arguments, and prints the time of the commit in
// Unix milliseconds.
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { parseStoreAddress } from '../../src/store/store-address.ts'

const [address = '', keyId = ''] = process.argv.slice(2)
const store = await openStore({ target: parseStoreAddress(address), clock: systemClock })
const key = await store.apiKeys.findForAuthentication(keyId)
await store.apiKeys.revoke(key?.organizationId ?? '', keyId)
process.stdout.write(String(Date.now()))
await store.close()
