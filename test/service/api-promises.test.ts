// A change of the API that breaks its callers fails here; one that adds to it is written down as promised.
import { expect, test } from 'bun:test'
import { type ApiDocument, brokenPromises, promisesOf, readDocument, readPromised } from './api-promises.ts'

test('callers find everything that they were promised', () => {
  expect(brokenPromises(readPromised(), promisesOf(readDocument()))).toEqual([])
})

test('what is new is promised from now on: bun test/service/api-promises.ts', () => {
  const promised = new Set(readPromised())
  expect(promisesOf(readDocument()).filter((line) => !promised.has(line))).toEqual([])
})

/** The document with something changed in its text. */
const changed = (from: string | RegExp, to: string): readonly string[] => {
  const text = JSON.stringify(readDocument())
  const other = text.replace(from, to)
  expect(other).not.toBe(text)
  return brokenPromises(readPromised(), promisesOf(JSON.parse(other) as ApiDocument))
}

test('a field, a path, a status or a value that goes, a type that changes and a field that is demanded are found', () => {
  expect(changed('"is_compliant":{', '"compliant":{')).toEqual([
    'gone: AttestationResponse answers is_compliant always',
    'gone: AttestationResponse answers is_compliant is boolean',
  ])
  expect(changed('"/api/v1/verify":', '"/api/v2/verify":')).toContainEqual('gone: POST /api/v1/verify answers 200')
  expect(changed('"responses":{"200":', '"responses":{"201":')).toContainEqual('gone: POST /v2/attestation answers 200')
  expect(changed('"is_compliant":{"type":"boolean"', '"is_compliant":{"type":"string"')).not.toEqual([])
  expect(changed(/("in":"header","required":)false/, '$1true')).toContainEqual(
    'now needed: POST /v2/attestation takes header Idempotency-Key always',
  )
})

test('a field and an operation that are added break nobody, nor does one that may be left out from now on', () => {
  expect(changed('"is_compliant":{', '"more":{"type":"string"},"is_compliant":{')).toEqual([])
  expect(changed('"paths":{', '"paths":{"/new":{"get":{"responses":{"200":{}}}},')).toEqual([])
  const promised = ['POST /a takes b always', 'POST /a answers 200 c']
  expect(brokenPromises(promised, ['POST /a takes b', 'POST /a answers 200 c always'])).toEqual([])
})
