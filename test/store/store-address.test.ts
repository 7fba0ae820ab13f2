import { describe, expect, test } from 'bun:test'
import { describeStore, describeWeakConnection, parseStoreAddress } from '../../src/store/store-address.ts'

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
    expect(parseStoreAddress('postgres://ada@localhost/c?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
    })
  })

  test('that is malformed is refused, and no message repeats any of it', () => {
    for (const text of [
      '',
      'sqlite:',
      'data.db',
      'mysql://ada:canary@h/d',
      'sqlite:a\0b',
      'postgres://ada:canary@h:99999/d',
      'postgres://ada:canary@h',
      'postgres://:canary@h/d',
      'postgres://ada:canary%zz@h/d',
      'postgres:///canary',
      'postgres://ada:canary@h/d?sslmode=canary',
      'postgres://ada:canary@h/d?pool_max=1',
      'postgres://ada:canary@h/d?canary=1',
    ]) {
      expect(refusal(text)).not.toContain('canary')
    }
  })

  const modeOf = (host: string, mode?: string): string | undefined => {
    const target = parseStoreAddress(`postgres://ada@${host}/c${mode === undefined ? '' : `?sslmode=${mode}`}`)
    return target.kind === 'postgres' ? target.tls : undefined
  }
  const HERE = ['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '[::1]']
  const ELSEWHERE = [
    'db.example',
    '10.0.0.5',
    '[fd00::1]',
    '127.0.0.1.example',
    'localhost.example',
    '0.0.0.0',
    '0x7f.1',
  ]

  test('verifies who answers unless that stays on this machine', () => {
    for (const host of HERE) expect(modeOf(host)).toBe('prefer')
    expect(parseStoreAddress('postgres://ada@h/c?host=/run/postgresql')).toMatchObject({ tls: 'prefer' })
    for (const host of ELSEWHERE) expect(modeOf(host)).toBe('verify-full')
    // The host that is connected to decides, wherever the address names it.
    expect(parseStoreAddress('postgres://ada@localhost/c?host=db.example')).toMatchObject({ tls: 'verify-full' })
  })

  test('never falls back to clear text on its way to another machine', () => {
    for (const host of ELSEWHERE) {
      for (const mode of ['prefer', 'allow']) {
        expect(refusal(`postgres://ada:canary@${host}/c?sslmode=${mode}`)).toMatch(/falls back.*sslrootcert=FILE/)
      }
      for (const mode of ['disable', 'require', 'verify-ca', 'verify-full']) expect(modeOf(host, mode)).toBe(mode)
    }
    for (const host of HERE) expect(modeOf(host, 'prefer')).toBe('prefer')
    expect(refusal('postgres://ada@h/c?sslmode=disable&sslrootcert=/a.pem')).toContain('omit one of them')
  })

  test('that asks for less than certainty is told, without the password', () => {
    const told = (text: string) => describeWeakConnection(parseStoreAddress(text))
    for (const mode of ['disable', 'require', 'verify-ca']) {
      const text = told(`postgres://ada:canary@db.example/c?sslmode=${mode}`)
      expect(text).toContain('db.example:5432')
      expect(text).not.toContain('canary')
      expect(told(`postgres://ada@127.0.0.1/c?sslmode=${mode}`)).toBeNull()
    }
    expect(told('postgres://ada@db.example/c')).toBeNull()
    expect(told('sqlite:/a.db')).toBeNull()
  })

  test('is told to people without user or password', () => {
    const target = parseStoreAddress('postgres://ada:canary@db.example:5433/countersign')
    expect(describeStore(target)).toBe('the store countersign at db.example:5433')
    expect(describeStore(parseStoreAddress('sqlite:/a.db'))).toBe('the store /a.db')
  })
})
