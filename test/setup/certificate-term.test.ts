// Reports about certificates of listeners that have expired or will expire soon.
import { beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectCertificateTerms } from '../../src/setup/certificate-term.ts'
import { newFolder } from '../support/folder.ts'

const DAY = 86_400
let leaf = ''
let authority = ''
beforeAll(() => {
  const folder = newFolder()
  const create = (name: string, days: number): string => {
    const path = join(folder, `${name}.pem`)
    const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ')
    const named = ['-keyout', join(folder, `${name}.key`), '-out', path, '-subj', `/CN=${name}`, '-days', `${days}`]
    const { exitCode, stderr } = Bun.spawnSync(['openssl', ...words, ...named])
    if (exitCode !== 0) throw new Error(stderr.toString())
    return readFileSync(path, 'utf8')
  }
  leaf = create('leaf', 90)
  authority = create('authority', 30)
})

const nowSeconds = Math.floor(Date.now() / 1_000)
const inspect = (cert: string, atSeconds: number) =>
  inspectCertificateTerms({ api: { cert, key: '' }, portal: null, dashboard: null, metrics: null }, atSeconds)

test('a certificate is reported if it expires within 14 days', () => {
  expect(inspect(leaf, nowSeconds + 75 * DAY)).toEqual([])
  expect(inspect(leaf, nowSeconds + 77 * DAY)).toEqual([
    { check: 'certificate', subject: 'api', result: 'note', detail: expect.stringContaining('(in 13 days)') },
  ])
})

test('an expired certificate, or one that is not valid yet, is a problem', () => {
  expect(inspect(leaf, nowSeconds + 91 * DAY)).toMatchObject([{ result: 'problem', subject: 'api' }])
  expect(inspect(leaf, nowSeconds - DAY)).toMatchObject([{ result: 'problem' }])
})

test('a chain expires with its first certificate', () => {
  expect(inspect(`${leaf}${authority}`, nowSeconds + 10 * DAY)).toEqual([])
  expect(inspect(`${leaf}${authority}`, nowSeconds + 20 * DAY)).toMatchObject([{ result: 'note' }])
  expect(inspect(`${leaf}${authority}`, nowSeconds + 31 * DAY)).toMatchObject([{ result: 'problem' }])
})
