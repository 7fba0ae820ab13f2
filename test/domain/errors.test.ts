// Errors are identified by their class, and logs contain the name of the class.
import { expect, test } from 'bun:test'
import { CountersignError, fixedError, QueueFullError } from '../../src/domain/errors.ts'
import { SessionUnknownError } from '../../src/domain/session-errors.ts'
import { errorClassOf } from '../../src/lib/named-error.ts'
import { KeystoreLockedError, SigningError } from '../../src/signing/errors.ts'

test('an error has the name of its class', () => {
  expect(new QueueFullError().name).toBe('QueueFullError')
  expect(new SessionUnknownError().name).toBe('SessionUnknownError')
  expect(errorClassOf(new KeystoreLockedError('the passphrase is wrong'))).toBe('KeystoreLockedError')
  expect(new KeystoreLockedError('')).toBeInstanceOf(SigningError)
})

test('classes with a fixed text are distinct, although their base classes are alike', () => {
  class FirstError extends fixedError('CONFLICT', 'the same text') {}
  class SecondError extends fixedError('CONFLICT', 'the same text', { retryAfterSeconds: 2 }) {}
  const error = new SecondError()
  expect(error).toBeInstanceOf(SecondError)
  expect(error).toBeInstanceOf(CountersignError)
  expect(error).not.toBeInstanceOf(FirstError)
  expect(error).toMatchObject({ name: 'SecondError', code: 'CONFLICT', detail: 'the same text', retryAfterSeconds: 2 })
})
