// Steps of a session: existing steps, finished steps, and steps that may be opened.
import type { Requirement, SessionPart } from '../../domain/requirements.ts'
import type { SessionView } from '../contract.ts'
import type { SessionCalls } from './api.ts'

export const STEPS = ['welcome', 'consent', 'wallets', 'details', 'documents', 'review'] as const
export type Step = (typeof STEPS)[number]

type View = Pick<SessionView, 'status' | 'requirements' | 'missing' | 'corrections' | 'agreement' | 'agreementVersion'>

const partOf = (requirement: Requirement): SessionPart =>
  requirement.part === 'field' ? requirement.name : requirement.kind

const belongsTo = (step: Step, part: SessionPart, requirements: readonly Requirement[]): boolean => {
  if (part === 'wallets') return step === 'wallets'
  const requirement = requirements.find((known) => partOf(known) === part)
  return requirement?.part === 'field' ? step === 'details' : step === 'documents'
}

/** If the session was sent back for certain parts, only these are required. */
export const isCorrecting = ({ status, corrections }: Pick<View, 'status' | 'corrections'>): boolean =>
  status === 'retry' && corrections.length > 0

/** After the session was sent back, returns only missing parts and parts to correct. */
export const partsOf = (view: View, step: Step): readonly SessionPart[] => {
  const all = view.requirements.map(partOf).filter((part) => belongsTo(step, part, view.requirements))
  if (!isCorrecting(view)) return all
  return all.filter((part) => view.corrections.includes(part) || view.missing.includes(part))
}

/** Omits steps that require nothing. */
export const stepsOf = (view: View): readonly Step[] =>
  STEPS.filter((step) => {
    if (step === 'welcome') return view.status === 'pending'
    if (step === 'consent') return !isCorrecting(view) || !hasAgreed(view)
    if (step === 'wallets') {
      return !isCorrecting(view) || view.corrections.includes('wallets') || view.missing.includes('wallets')
    }
    return step === 'review' || partsOf(view, step).length > 0
  })

const hasAgreed = ({ agreement, agreementVersion }: Pick<View, 'agreement' | 'agreementVersion'>): boolean =>
  agreement?.version.split('.')[0] === agreementVersion

export const isDone = (view: View, step: Step): boolean => {
  if (step === 'welcome') return true
  if (step === 'consent') return hasAgreed(view)
  if (step === 'review') return false
  return !view.missing.some((part) => belongsTo(step, part, view.requirements))
}

/** Returns the first incomplete step; later steps can't be opened. */
const openStep = (view: View): Step => stepsOf(view).find((step) => !isDone(view, step)) ?? 'review'

export const currentStep = (view: View): Step => {
  const [first] = stepsOf(view)
  return first === 'welcome' && !hasAgreed(view) ? first : openStep(view)
}

export const allowedStep = (view: View, wanted: string): Step => {
  const steps = stepsOf(view)
  const last = steps.indexOf(openStep(view))
  const index = steps.indexOf(wanted as Step)
  return (index >= 0 && index <= last ? steps[index] : steps[last]) ?? 'review'
}

export const stepAfter = (view: View, step: Step): Step => {
  const steps = stepsOf(view)
  return steps[steps.indexOf(step) + 1] ?? 'review'
}

export const stepBefore = (view: View, step: Step): Step | null => {
  const steps = stepsOf(view)
  return steps[steps.indexOf(step) - 1] ?? null
}

export const countedSteps = (view: View): readonly Step[] => stepsOf(view).filter((step) => step !== 'welcome')

export interface StepProps {
  readonly view: SessionView
  readonly calls: SessionCalls
  readonly apply: (view: SessionView) => void
  readonly refresh: () => void
  readonly go: (step: Step) => void
  /** Opens the next step, or an earlier incomplete step. @param view newest view, if the step just changed it */
  readonly next: (view?: SessionView) => void
  readonly back: (() => void) | null
  readonly announce: (text: string) => void
}
