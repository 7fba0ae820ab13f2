import { expect, test } from 'bun:test'
import { closed, nullable, Type, time } from '../../src/admin/schema.ts'
import { shown } from '../../src/admin/shown.ts'

const CONTACT = closed({
  id: Type.String(),
  full_name: Type.String(),
  kind: Type.String(),
  created_at: time(),
  ended_at: nullable(time()),
})

test('a record is returned with the names and times of its schema, without undeclared fields', () => {
  const record = { id: 'c1', fullName: 'Ada', createdAtSeconds: 0, endedAtSeconds: null, passwordHash: 'secret' }
  expect(shown(CONTACT, record, { kind: 'person' })).toEqual({
    id: 'c1',
    full_name: 'Ada',
    kind: 'person',
    created_at: '1970-01-01T00:00:00.000Z',
    ended_at: null,
  })
})
