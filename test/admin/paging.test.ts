// Pages by cursor. Changes between two pages neither repeat nor omit an earlier item.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeCursor, encodeCursor } from '../../src/admin/cursor.ts'
import { FieldInvalidError } from '../../src/domain/errors.ts'
import { allKeys } from '../support/all-rows.ts'
import { harnessOfFile } from './support/harness.ts'

const harness = await harnessOfFile()
const alpha = await harness.organization('alpha')

interface Page {
  readonly data: { readonly id?: string; readonly sequence?: number }[]
  readonly next_cursor: string | null
}

const page = async (path: string, limit: number, cursor: string | null, { slug, key } = alpha): Promise<Page> => {
  const query = `limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`
  const { status, body } = await harness.call<Page>('GET', `/organizations/${slug}/${path}?${query}`, { key })
  expect(status).toBe(200)
  return body
}

/** Reads all pages of a list. @param meanwhile runs between two pages */
const readAll = async (path: string, limit: number, meanwhile: () => Promise<unknown> = async () => undefined) => {
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
const keyIds = async ({ id } = alpha) => (await allKeys(harness.store, id)).map(({ keyId }) => keyId)

describe('a list', () => {
  test('with rows of the same second is complete in pages of any size', async () => {
    for (let n = 0; n < 23; n++) await issue(`key ${n}`)
    const all = await keyIds()
    for (const limit of [1, 2, 5, 23, 24, 25, 200]) expect(await readAll('keys', limit)).toEqual(all)
  })

  test('in ascending order includes new rows at its end', async () => {
    const before = await keyIds()
    let added = 0
    const seen = await readAll('keys', 7, async () => {
      harness.clock.advance(1)
      if (added++ < 3) await issue(`late ${added}`)
    })
    expect(seen.slice(0, before.length)).toEqual(before)
    expect([seen.length, new Set(seen).size]).toEqual([before.length + 3, before.length + 3])
  })

  test('in descending order omits only new rows', async () => {
    const before = (await harness.audited({ organizationId: alpha.id }, 200)).map(({ sequence }) => sequence)
    expect(await readAll('audit', 6, () => issue('meanwhile'))).toEqual(before)
  })

  test('continues after the last row of a page even if the row was deleted', async () => {
    const { bindings, policies, projects } = harness.store
    const organizationId = alpha.id
    const { id: policyId } = await policies.create({ organizationId, name: 'P' })
    const { id: projectId } = await projects.create({ organizationId, name: 'p', policyId })
    for (let n = 0; n < 6; n++) {
      const address = `0x${n.toString(16).padStart(40, '0')}`
      await bindings.create({ organizationId, projectId, chainName: 'base', address })
    }
    const all = (await page('bindings', 200, null)).data
    const first = await page('bindings', 3, null)
    await bindings.remove(organizationId, first.data[2]?.id ?? '')
    const second = await page('bindings', 3, first.next_cursor)
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(all.map(({ id }) => id))
  })
})

describe('a cursor', () => {
  test('is decoded to its values', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.string({ maxLength: 100 }), (number, text) => {
        expect(decodeCursor(encodeCursor([number, text]), ['number', 'string'])).toEqual([number, text])
      }),
    )
  })

  test('of another list or in an invalid format is refused before it reaches the store', async () => {
    const encoded = [[1], ['a', 'b'], [1, 2], [1.5, 'a']].map((parts) => encodeCursor(parts))
    for (const text of ['', 'x', 'bnVsbA', ...encoded]) {
      expect(() => decodeCursor(text, ['number', 'string'])).toThrow(FieldInvalidError)
    }
    const path = `/organizations/alpha/keys?cursor=${encodeCursor([1])}`
    expect(await harness.status('GET', path, { key: alpha.key })).toBe(400)
    expect(harness.reported).toEqual([])
  })

  test('of another organization shows only items of the organization in the path', async () => {
    const beta = await harness.organization('beta')
    const { next_cursor } = await page('keys', 1, null)
    const { data } = await page('keys', 200, next_cursor, beta)
    const own = await keyIds(beta)
    for (const { id } of data) expect(own).toContain(id ?? '')
  })
})

test.each(['limit=0', 'limit=201', 'limit=1e2', 'limit=%205', 'limit=5&limit=6', 'limits=5', 'kind=admins', 'cursor='])(
  'the query %s is refused',
  async (query) => {
    expect(await harness.status('GET', `/organizations/alpha/keys?${query}`, { key: alpha.key })).toBe(400)
  },
)
