// A full cache evicts values of the organization that fills most of it.
import { expect, test } from 'bun:test'
import { createFairCache } from '../../src/policy/revision-cache.ts'

const filled = () => {
  const cache = createFairCache<string>(10, ({ length }) => length)
  cache.set('small', 's1', 'xxx')
  for (const key of ['l1', 'l2', 'l3']) cache.set('large', key, 'xx')
  return cache
}

test('an organization cannot evict entries of others, even if it adds many', () => {
  const cache = filled()
  for (let index = 0; index < 50; index++) cache.set('large', `more${index}`, 'xx')
  expect(cache.get('s1')).toBe('xxx')
  expect(['more46', 'more47', 'more48', 'more49'].map(cache.get)).toEqual([undefined, 'xx', 'xx', 'xx'])
})

test('the least recently used entry is evicted first', () => {
  const cache = filled()
  cache.get('l1')
  cache.set('small', 's2', 'x')
  cache.set('small', 's3', 'x')
  const keys = ['l1', 'l2', 'l3', 's1', 's2', 's3']
  expect(keys.filter((key) => cache.get(key) !== undefined)).toEqual(['l1', 'l3', 's1', 's2', 's3'])
})

test('a value replaces the previous value of its key, a value above the limit is not kept, and clear() removes all values', () => {
  const cache = filled()
  cache.set('large', 'l1', 'yyy')
  expect(cache.get('l1')).toBe('yyy')
  cache.set('small', 's1', 'x'.repeat(11))
  expect(cache.get('s1')).toBeUndefined()
  cache.clear()
  expect(cache.get('l3')).toBeUndefined()
  cache.set('large', 'l4', 'x'.repeat(10))
  expect(cache.get('l4')).toBeDefined()
})
