// API changes: incompatible changes fail, and additions must be recorded.
import { expect, test } from 'bun:test'
import { type ApiDocument, brokenPromises, promisesOf, readDocument, readPromised } from './api-promises.ts'

test('the API keeps its promises', () => {
  expect(brokenPromises(readPromised(), promisesOf(readDocument()))).toEqual([])
})

test('additions are recorded: bun test/service/api-promises.ts', () => {
  const promised = new Set(readPromised())
  expect(promisesOf(readDocument()).filter((line) => !promised.has(line))).toEqual([])
})

/** Returns the broken promises of a changed document. */
const changed = (from: string | RegExp, to: string): readonly string[] => {
  const text = JSON.stringify(readDocument())
  const other = text.replace(from, to)
  expect(other).not.toBe(text)
  return brokenPromises(readPromised(), promisesOf(JSON.parse(other) as ApiDocument))
}

test('removed fields, paths and statuses, changed types and new required inputs are incompatible', () => {
  expect(changed('"is_compliant":{', '"compliant":{')).toEqual([
    'removed: AttestationResponse answers is_compliant always',
    'removed: AttestationResponse answers is_compliant is boolean',
  ])
  expect(changed('"/api/v1/verify":', '"/api/v2/verify":')).toContainEqual('removed: POST /api/v1/verify answers 200')
  expect(changed('"responses":{"200":', '"responses":{"201":')).toContainEqual(
    'removed: POST /v2/attestation answers 200',
  )
  expect(changed('"is_compliant":{"type":"boolean"', '"is_compliant":{"type":"string"')).not.toEqual([])
  expect(changed(/("in":"header","required":)false/, '$1true')).toContainEqual(
    'newly required: POST /v2/attestation takes header Idempotency-Key always',
  )
})

test('new fields and operations, and required inputs that become optional, are compatible', () => {
  expect(changed('"is_compliant":{', '"more":{"type":"string"},"is_compliant":{')).toEqual([])
  expect(changed('"paths":{', '"paths":{"/new":{"get":{"responses":{"200":{}}}},')).toEqual([])
  const promised = ['POST /a takes b always', 'POST /a answers 200 c']
  expect(brokenPromises(promised, ['POST /a takes b', 'POST /a answers 200 c always'])).toEqual([])
})
