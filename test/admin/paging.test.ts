// Pages by cursor: whatever is written between two pages, nothing that was there is shown twice or left out.
import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeCursor, encodeCursor } from '../../src/admin/cursor.ts'
import { FieldInvalidError } from '../../src/domain/errors.ts'
import { allKeys } from '../support/all-rows.ts'
import { startHarness } from './support/harness.ts'

const harness = await startHarness()
afterAll(() => harness.close())
const alpha = await harness.organization('alpha')

interface Page {
  readonly data: { readonly id?: string; readonly sequence?: number }[]
  readonly next_cursor: string | null
}

const page = async (path: string, limit: number, cursor: string | null): Promise<Page> => {
  const query = `${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`
  const { status, body } = await harness.call<Page>('GET', path + query, { key: alpha.key })
  expect(status).toBe(200)
  return body
}

/** Walks a list; between two pages `meanwhile` happens. */
const walk = async (path: string, limit: number, meanwhile: () => Promise<unknown> = async () => undefined) => {
  const seen: (string | number)[] = []
  let cursor: string | null = null
  do {
    const { data, next_cursor } = await page(path, limit, cursor)
    expect(data.length).toBeLessThanOrEqual(limit)
    seen.push(...data.map(({ id, sequence }) => id ?? sequence ?? ''))
    cursor = next_cursor
    if (cursor !== null) await meanwhile()
  } while (cursor !== null)
  return seen
}

const issue = (name: string) =>
  harness.request('POST', '/organizations/alpha/keys', { key: alpha.key, body: { name, kind: 'attestation' } })

describe('a list', () => {
  test('of rows of one and the same second is walked whole, in pages of any size', async () => {
    for (let n = 0; n < 23; n++) await issue(`key ${n}`)
    const all = (await allKeys(harness.store, alpha.id)).map(({ keyId }) => keyId)
    for (const limit of [1, 2, 5, 23, 24, 25, 200]) {
      expect(await walk('/organizations/alpha/keys', limit)).toEqual(all)
    }
  })

  test('oldest first shows what is added meanwhile at its end, each once', async () => {
    const before = (await allKeys(harness.store, alpha.id)).map(({ keyId }) => keyId)
    let added = 0
    const seen = await walk('/organizations/alpha/keys', 7, async () => {
      harness.clock.advance(1)
      if (added++ < 3) await issue(`late ${added}`)
    })
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.slice(0, before.length)).toEqual(before)
    expect(seen).toHaveLength(before.length + 3)
  })

  test('newest first leaves out what is added meanwhile, and nothing else', async () => {
    const before = (await harness.audited({ organizationId: alpha.id }, 200)).map(({ sequence }) => sequence)
    const seen = await walk('/organizations/alpha/audit', 6, () => issue('meanwhile'))
    expect(seen).toEqual(before)
  })

  test('of which the last row seen is gone goes on after it', async () => {
    const policy = await harness.store.policies.create({ organizationId: alpha.id, name: 'P' })
    const project = await harness.store.projects.create({ organizationId: alpha.id, name: 'p', policyId: policy.id })
    for (let n = 0; n < 6; n++) {
      await harness.store.bindings.create({
        organizationId: alpha.id,
        projectId: project.id,
        chainName: 'base',
        address: `0x${n.toString(16).padStart(40, '0')}`,
      })
    }
    const all = (await page('/organizations/alpha/bindings', 200, null)).data.map(({ id }) => id)
    const first = await page('/organizations/alpha/bindings', 3, null)
    await harness.store.bindings.remove(alpha.id, first.data[2]?.id ?? '')
    const second = await page('/organizations/alpha/bindings', 3, first.next_cursor)
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(all)
  })
})

describe('a cursor', () => {
  test('comes back as it was', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.string({ maxLength: 100 }), (number, text) => {
        expect(decodeCursor(encodeCursor([number, text]), ['number', 'string'])).toEqual([number, text])
      }),
    )
  })

  test('of another list, or made up, is refused and never reaches the store', async () => {
    const encoded = [[1], ['a', 'b'], [1, 2], [1.5, 'a']].map((parts) => encodeCursor(parts))
    for (const text of ['', 'x', 'bnVsbA', ...encoded]) {
      expect(() => decodeCursor(text, ['number', 'string'])).toThrow(FieldInvalidError)
    }
    const response = await harness.request('GET', `/organizations/alpha/keys?cursor=${encodeCursor([1])}`, {
      key: alpha.key,
    })
    expect(response.status).toBe(400)
    expect(harness.reported).toEqual([])
  })

  test('opens no other organization: it is only a place', async () => {
    const beta = await harness.organization('beta')
    const { next_cursor } = await page('/organizations/alpha/keys', 1, null)
    const path = `/organizations/beta/keys?cursor=${next_cursor}`
    const { body } = await harness.call<Page>('GET', path, { key: beta.key })
    const own = (await allKeys(harness.store, beta.id)).map(({ keyId }) => keyId)
    for (const { id } of body.data) expect(own).toContain(id ?? '')
  })
})

describe('a query', () => {
  test('is read strictly', async () => {
    const limits = ['limit=0', 'limit=201', 'limit=1e2', 'limit=%205', 'limit=5&limit=6']
    for (const query of [...limits, 'limits=5', 'kind=admins', 'cursor=']) {
      const response = await harness.request('GET', `/organizations/alpha/keys?${query}`, { key: alpha.key })
      expect([query, response.status]).toEqual([query, 400])
    }
  })
})
