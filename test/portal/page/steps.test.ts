// The way through the page: nobody is asked for what is not needed, and nobody goes past what is missing.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { requirementsOf, type SessionPart } from '../../../src/domain/requirements.ts'
import { allowedStep, currentStep, isDone, partsOf, STEPS, stepAfter, stepsOf } from '../../../src/portal/page/steps.ts'

type View = Parameters<typeof stepsOf>[0]

const agreement = { version: '1.en', shares: true, usesDetails: false }

const viewOf = (change: Partial<View> = {}): View => ({
  status: 'pending',
  requirements: requirementsOf('kyc', 2),
  missing: ['wallets', 'fullName', 'birthDate', 'country', 'identity-document', 'portrait'],
  corrections: [],
  agreement,
  agreementVersion: '1',
  ...change,
})

describe('the steps', () => {
  test('are those that the level has something to ask for', () => {
    expect(stepsOf(viewOf())).toEqual([...STEPS])
    expect(stepsOf(viewOf({ requirements: requirementsOf('kyc', 1) }))).not.toContain('documents')
    expect(stepsOf(viewOf({ requirements: requirementsOf('kyb', 1) }))).toContain('documents')
  })

  test('begin with the welcome, or with what is missing for someone who comes back', () => {
    expect(currentStep(viewOf({ agreement: null }))).toBe('welcome')
    expect(currentStep(viewOf())).toBe('wallets')
    expect(currentStep(viewOf({ missing: ['portrait'] }))).toBe('documents')
    expect(currentStep(viewOf({ missing: [] }))).toBe('review')
  })

  test('are only those that were sent back, and the review', () => {
    const view = viewOf({ status: 'retry', missing: ['identity-document'], corrections: ['identity-document'] })
    expect(stepsOf(view)).toEqual(['documents', 'review'])
    expect(partsOf(view, 'documents')).toEqual(['identity-document'])
    const wallets = viewOf({ status: 'retry', missing: ['wallets'], corrections: ['wallets', 'fullName'] })
    expect(stepsOf(wallets)).toEqual(['wallets', 'details', 'review'])
    expect(partsOf(wallets, 'details')).toEqual(['fullName'])
  })

  test('are all of them for whoever was sent back for nothing in particular', () => {
    expect(stepsOf(viewOf({ status: 'retry', missing: [] }))).toEqual([
      'consent',
      'wallets',
      'details',
      'documents',
      'review',
    ])
  })

  test('ask again for an agreement to a text that has changed', () => {
    const view = viewOf({ agreementVersion: '2' })
    expect(isDone(view, 'consent')).toBe(false)
    expect(allowedStep(view, 'review')).toBe('consent')
  })

  test('are never passed while something before them is missing', () => {
    const part = fc.constantFrom<SessionPart>(
      'wallets' as const,
      'fullName' as const,
      'birthDate' as const,
      'country' as const,
      'identity-document' as const,
      'portrait' as const,
    )
    fc.assert(
      fc.property(
        fc.uniqueArray(part),
        fc.uniqueArray(part),
        fc.boolean(),
        fc.constantFrom('pending' as const, 'retry' as const),
        fc.constantFrom<string>(...STEPS, 'nonsense', ''),
        (missing, corrections, agreed, status, wanted) => {
          const view = viewOf({ missing, corrections, status, agreement: agreed ? agreement : null })
          const step = allowedStep(view, wanted)
          const steps = stepsOf(view)
          expect(steps).toContain(step)
          for (const before of steps.slice(0, steps.indexOf(step))) expect(isDone(view, before)).toBe(true)
          expect(steps).toContain(stepAfter(view, step))
        },
      ),
    )
  })
})
