// A listener's certificate that is over, or soon will be, is said before clients say it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspectCertificateTerms } from '../../src/setup/certificate-term.ts'

const DAY = 86_400
let folder = ''
let leaf = ''
let authority = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-certificate-'))
  const make = (name: string, days: number): string => {
    const path = join(folder, `${name}.pem`)
    const { exitCode, stderr } = Bun.spawnSync([
      'openssl',
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      join(folder, `${name}.key`),
      '-out',
      path,
      '-subj',
      `/CN=${name}`,
      '-days',
      String(days),
    ])
    if (exitCode !== 0) throw new Error(stderr.toString())
    return readFileSync(path, 'utf8')
  }
  leaf = make('leaf', 90)
  authority = make('authority', 30)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const nowSeconds = Math.floor(Date.now() / 1_000)
const inspect = (cert: string, atSeconds: number) =>
  inspectCertificateTerms({ api: { cert, key: '' }, portal: null, dashboard: null, metrics: null }, atSeconds)

test('says nothing of one that is good for weeks, and names one that ends within 14 days', () => {
  expect(inspect(leaf, nowSeconds + 75 * DAY)).toEqual([])
  expect(inspect(leaf, nowSeconds + 77 * DAY)).toEqual([
    { check: 'certificate', subject: 'api', result: 'note', detail: expect.stringContaining('(in 13 days)') },
  ])
})

test('one that is over, or not good yet, is a problem', () => {
  expect(inspect(leaf, nowSeconds + 91 * DAY)).toMatchObject([{ result: 'problem', subject: 'api' }])
  expect(inspect(leaf, nowSeconds - DAY)).toMatchObject([{ result: 'problem' }])
})

test('the chain is as good as what ends first in it', () => {
  expect(inspect(`${leaf}${authority}`, nowSeconds + 10 * DAY)).toEqual([])
  expect(inspect(`${leaf}${authority}`, nowSeconds + 20 * DAY)).toMatchObject([{ result: 'note' }])
  expect(inspect(`${leaf}${authority}`, nowSeconds + 31 * DAY)).toMatchObject([{ result: 'problem' }])
})
