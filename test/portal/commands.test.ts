// Commands with visible effects on the page: the brand of an organization, and the parts to submit again.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logoTypeOf } from '../../src/lib/logo-type.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { runWords } from '../cli/run-words.ts'
import { openIdentity, type TestIdentity } from '../identity/support.ts'
import { newFolder } from '../support/folder.ts'

let world: TestIdentity
let folder: string
let organizationId: string

beforeEach(async () => {
  world = await openIdentity()
  organizationId = await world.createOrganization('demo', 2)
  folder = newFolder()
})
afterEach(() => world.remove())

const run = (...words: string[]) => runWords(words, { open: openOver(world), clock: world.clock })

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

describe('brand update', () => {
  test('sets, keeps and removes a color and a logo', async () => {
    const logo = join(folder, 'logo.png')
    writeFileSync(logo, PNG)
    expect((await run('brand', 'update', '--color', '#aa3366', '--logo', logo)).code).toBe(0)
    const { color, logoVersion } = await world.store.organizationBrands.find(organizationId)
    expect([color, logoVersion?.length]).toEqual(['#aa3366', 16])
    expect(await world.store.organizationBrands.findLogo(organizationId)).toEqual({
      type: 'image/png',
      bytes: new Uint8Array(PNG),
    })
    const { stdout } = await run('brand', 'update', '--color', 'none', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ color: null, logo_version: logoVersion })
    await run('brand', 'update', '--logo', 'none')
    expect(await world.store.organizationBrands.find(organizationId)).toMatchObject({ color: null, logoVersion: null })
  })

  test('refuses other file types and large files', async () => {
    const file = (name: string, content: Uint8Array): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    }
    const svg = file('logo.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'))
    expect((await run('brand', 'update', '--logo', svg)).stderr).toContain('must be a PNG, JPEG or WebP picture')
    const large = file('large.png', Buffer.concat([PNG, Buffer.alloc(262_144)]))
    expect((await run('brand', 'update', '--logo', large)).stderr).toContain('at most 256 KiB')
    expect((await run('brand', 'update', '--logo', join(folder, 'none.png'))).code).toBe(1)
    expect(await world.store.organizationBrands.find(organizationId)).toMatchObject({ color: null, logoVersion: null })
  })

  test('determines the type of a file by its content', () => {
    const files = [PNG, Buffer.from('ffd8ffe0', 'hex'), Buffer.from('RIFF____WEBPVP8 '), Buffer.from('GIF89a')]
    const types = ['image/png', 'image/jpeg', 'image/webp', null, null]
    expect([...files, new Uint8Array()].map(logoTypeOf)).toEqual(types as never)
  })
})

describe('session decide --fix', () => {
  const sessionOf = async (): Promise<string> => (await world.register(organizationId)).session.id
  const corrections = async (sessionId: string) =>
    (await world.store.portalProgress.findCorrections(organizationId, sessionId))?.parts ?? null

  test('sets the parts to submit again until the next decision', async () => {
    const sessionId = await sessionOf()
    expect((await run('session', 'decide', sessionId, 'retry', '--fix', 'fullName, portrait,fullName')).code).toBe(0)
    expect(await corrections(sessionId)).toEqual(['fullName', 'portrait'])
    await run('session', 'decide', sessionId, 'retry', '--fix', 'wallets')
    expect(await corrections(sessionId)).toEqual(['wallets'])
    await run('session', 'decide', sessionId, 'retry')
    expect(await corrections(sessionId)).toBeNull()
  })

  test('accepts only parts that the session requires', async () => {
    const sessionId = await sessionOf()
    const wrong = await run('session', 'decide', sessionId, 'retry', '--fix', 'owners')
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('--fix must contain only wallets, fullName, birthDate, country')
    expect((await world.store.sessions.find(organizationId, sessionId))?.session.status).toBe('pending')
  })
})
