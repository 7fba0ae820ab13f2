// Steps of the page: only required steps are shown, and no missing step can be skipped.
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
  test('are those that the level requires', () => {
    expect(stepsOf(viewOf())).toEqual([...STEPS])
    expect(stepsOf(viewOf({ requirements: requirementsOf('kyc', 1) }))).not.toContain('documents')
    expect(stepsOf(viewOf({ requirements: requirementsOf('kyb', 1) }))).toContain('documents')
  })

  test('start with the welcome, and after that with the first missing part', () => {
    expect(currentStep(viewOf({ agreement: null }))).toBe('welcome')
    expect(currentStep(viewOf())).toBe('wallets')
    expect(currentStep(viewOf({ missing: ['portrait'] }))).toBe('documents')
    expect(currentStep(viewOf({ missing: [] }))).toBe('review')
  })

  test('of a session that was sent back are those of the requested parts, and the review', () => {
    const view = viewOf({ status: 'retry', missing: ['identity-document'], corrections: ['identity-document'] })
    expect(stepsOf(view)).toEqual(['documents', 'review'])
    expect(partsOf(view, 'documents')).toEqual(['identity-document'])
    const wallets = viewOf({ status: 'retry', missing: ['wallets'], corrections: ['wallets', 'fullName'] })
    expect(stepsOf(wallets)).toEqual(['wallets', 'details', 'review'])
    expect(partsOf(wallets, 'details')).toEqual(['fullName'])
  })

  test('of a session that was sent back without requested parts are all steps', () => {
    const steps = stepsOf(viewOf({ status: 'retry', missing: [] }))
    expect(steps).toEqual(['consent', 'wallets', 'details', 'documents', 'review'])
  })

  test('require another agreement after the text changed', () => {
    const view = viewOf({ agreementVersion: '2' })
    expect(isDone(view, 'consent')).toBe(false)
    expect(allowedStep(view, 'review')).toBe('consent')
  })

  test('cannot be reached while an earlier step is incomplete', () => {
    const part = fc.constantFrom<SessionPart>(...viewOf().missing)
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
