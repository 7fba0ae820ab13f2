// The client address in the audit log behind trusted and untrusted proxies.
import { expect, test } from 'bun:test'
import { startAlone } from '../../service/start-service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const addressesOf = async (trusted: string, forwarded: readonly (string | null)[]): Promise<string[]> => {
  const service = await startAlone({ environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_TRUSTED_PROXIES: trusted } })
  try {
    const { ADMIN_URL = '', ADMIN_API_KEY = '' } = service.quickstart
    const authorization = `Bearer ${ADMIN_API_KEY}`
    for (const [index, header] of forwarded.entries()) {
      const made = await fetch(`${ADMIN_URL}/organizations`, {
        method: 'POST',
        headers: { authorization, ...JSON_TYPE, ...(header === null ? {} : { 'x-forwarded-for': header }) },
        body: JSON.stringify({ slug: `made-${index}`, name: 'Made' }),
      })
      expect(made.status).toBe(201)
    }
    const listed = await fetch(`${ADMIN_URL}/audit?action=organization.create`, { headers: { authorization } })
    const { data } = (await listed.json()) as { data: { address: string }[] }
    return data.map(({ address }) => address).reverse()
  } finally {
    expect(await service.stop()).toBe(0)
  }
}

test('the audit log takes the client address only from trusted proxies', async () => {
  const chain = '203.0.113.9, 198.51.100.7'
  expect(await addressesOf('127.0.0.1', [chain, null])).toEqual(['198.51.100.7', ''])
  expect(await addressesOf('127.0.0.1,198.51.100.0/24', [chain])).toEqual(['203.0.113.9'])
  expect(await addressesOf('', [chain])).toEqual(['127.0.0.1'])
}, 60_000)
