// The address of a store: its parts, TLS modes, and descriptions without secrets.
import { describe, expect, test } from 'bun:test'
import { describeStore, describeWeakConnection, parseStoreAddress } from '../../src/store/store-address.ts'
import { words } from '../support/words.ts'

const refusal = (text: string): string => {
  try {
    parseStoreAddress(text)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error(`${text} was accepted`)
}

describe('the address of a store', () => {
  test.each(['/var/lib/countersign/a b.db', 'data.db'])('can be a file: %s', (path) => {
    expect(parseStoreAddress(`sqlite:${path}`)).toEqual({ kind: 'sqlite', path })
  })

  test('can be a PostgreSQL database, with defaults', () => {
    expect(parseStoreAddress('postgres://ada:p%40ss%2Fword@db.example/countersign')).toEqual({
      kind: 'postgres',
      host: 'db.example',
      port: 5432,
      database: 'countersign',
      user: 'ada',
      password: 'p@ss/word',
      tls: 'verify-full',
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
    const socket = parseStoreAddress('postgres://ada@localhost/c?host=/run/postgresql')
    expect(socket).toMatchObject({ host: '/run/postgresql' })
  })

  test.each([
    '',
    'sqlite:',
    'sqlite:a\0b',
    ...words`data.db mysql://ada:canary@h/d postgres://ada:canary@h:99999/d postgres://ada:canary@h postgres://:canary@h/d
      postgres://ada:canary%zz@h/d postgres:///canary postgres://ada:canary@h/d?sslmode=canary
      postgres://ada:canary@h/d?pool_max=1 postgres://ada:canary@h/d?canary=1`,
  ])('is rejected without being repeated if it is malformed: %p', (text) => {
    expect(refusal(text)).not.toContain('canary')
  })

  const modeOf = (host: string, mode?: string): string | undefined => {
    const target = parseStoreAddress(`postgres://ada@${host}/c${mode === undefined ? '' : `?sslmode=${mode}`}`)
    return target.kind === 'postgres' ? target.tls : undefined
  }
  const HERE = ['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '[::1]']
  const ELSEWHERE = words`db.example 10.0.0.5 [fd00::1] 127.0.0.1.example localhost.example 0.0.0.0 0x7f.1`

  test('verifies the server by default, except on this machine', () => {
    for (const host of HERE) expect(modeOf(host)).toBe('prefer')
    expect(parseStoreAddress('postgres://ada@h/c?host=/run/postgresql')).toMatchObject({ tls: 'prefer' })
    for (const host of ELSEWHERE) expect(modeOf(host)).toBe('verify-full')
    // The parameter `host` wins over the host of the URL.
    expect(parseStoreAddress('postgres://ada@localhost/c?host=db.example')).toMatchObject({ tls: 'verify-full' })
  })

  test('never falls back to plaintext for another machine', () => {
    for (const host of ELSEWHERE) {
      for (const mode of ['prefer', 'allow']) {
        expect(refusal(`postgres://ada:canary@${host}/c?sslmode=${mode}`)).toMatch(/falls back.*sslrootcert=FILE/)
      }
      for (const mode of ['disable', 'require', 'verify-ca', 'verify-full']) expect(modeOf(host, mode)).toBe(mode)
    }
    for (const host of HERE) expect(modeOf(host, 'prefer')).toBe('prefer')
    expect(refusal('postgres://ada@h/c?sslmode=disable&sslrootcert=/a.pem')).toContain('omit one of them')
  })

  test('with a weaker mode than the default is described without the password', () => {
    const describeWeak = (text: string) => describeWeakConnection(parseStoreAddress(text))
    for (const mode of ['disable', 'require', 'verify-ca']) {
      const text = describeWeak(`postgres://ada:canary@db.example/c?sslmode=${mode}`)
      expect(text).toContain('db.example:5432')
      expect(text).not.toContain('canary')
      expect(describeWeak(`postgres://ada@127.0.0.1/c?sslmode=${mode}`)).toBeNull()
    }
    expect(describeWeak('postgres://ada@db.example/c')).toBeNull()
    expect(describeWeak('sqlite:/a.db')).toBeNull()
  })

  test('is described without user and password', () => {
    const target = parseStoreAddress('postgres://ada:canary@db.example:5433/countersign')
    expect(describeStore(target)).toBe('the store countersign at db.example:5433')
    expect(describeStore(parseStoreAddress('sqlite:/a.db'))).toBe('the store /a.db')
  })
})
