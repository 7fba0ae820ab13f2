import { describe, expect, test } from 'bun:test'
import { describeStore, parseStoreAddress } from '../../src/store/store-address.ts'

const refusal = (text: string): string => {
  try {
    parseStoreAddress(text)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error(`${text} was taken`)
}

describe('the address of a store', () => {
  test('names a file', () => {
    expect(parseStoreAddress('sqlite:/var/lib/countersign/a b.db')).toEqual({
      kind: 'sqlite',
      path: '/var/lib/countersign/a b.db',
    })
    expect(parseStoreAddress('sqlite:data.db')).toEqual({ kind: 'sqlite', path: 'data.db' })
  })

  test('names a PostgreSQL database, with what is usual left out', () => {
    expect(parseStoreAddress('postgres://ada:p%40ss%2Fword@db.example/countersign')).toEqual({
      kind: 'postgres',
      host: 'db.example',
      port: 5432,
      database: 'countersign',
      user: 'ada',
      password: 'p@ss/word',
      tls: 'prefer',
      authorityFile: null,
      poolSize: 10,
    })
    expect(
      parseStoreAddress('postgresql://ada@[::1]:6432/c?sslmode=verify-full&sslrootcert=/etc/ca.pem&pool_max=4'),
    ).toMatchObject({
      host: '::1',
      port: 6432,
      password: '',
      tls: 'verify-full',
      authorityFile: '/etc/ca.pem',
      poolSize: 4,
    })
    expect(parseStoreAddress('postgres://ada@localhost/c?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
    })
  })

  test('that is malformed is refused, and no message repeats any of it', () => {
    for (const text of [
      ...['', 'sqlite:', 'data.db', 'mysql://ada:canary@h/d', 'sqlite:a\0b', 'postgres://ada:canary@h:99999/d'],
      ...['postgres://ada:canary@h', 'postgres://:canary@h/d', 'postgres://ada:canary%zz@h/d', 'postgres:///canary'],
      ...['postgres://ada:canary@h/d?sslmode=canary', 'postgres://ada:canary@h/d?pool_max=1'],
      'postgres://ada:canary@h/d?canary=1',
    ]) {
      expect(refusal(text)).not.toContain('canary')
    }
  })

  test('is told to people without user or password', () => {
    const target = parseStoreAddress('postgres://ada:canary@db.example:5433/countersign')
    expect(describeStore(target)).toBe('the store countersign at db.example:5433')
    expect(describeStore(parseStoreAddress('sqlite:/a.db'))).toBe('the store /a.db')
  })
})
