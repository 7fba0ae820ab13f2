// The way through the page: which steps a session has, which of them are done, and how far one may go. Pure.
import type { Requirement } from '../../identity/evidence-types.ts'
import type { CorrectionPart, SessionView } from '../contract.ts'

export const STEPS = ['welcome', 'consent', 'wallets', 'details', 'documents', 'review'] as const
export type Step = (typeof STEPS)[number]

type View = Pick<SessionView, 'status' | 'requirements' | 'missing' | 'corrections' | 'agreement' | 'agreementVersion'>

const partOf = (requirement: Requirement): CorrectionPart =>
  requirement.part === 'field' ? requirement.name : requirement.kind

/** Whether a step asks for a part. */
const belongsTo = (step: Step, part: CorrectionPart, requirements: readonly Requirement[]): boolean => {
  if (part === 'wallets') return step === 'wallets'
  const requirement = requirements.find((known) => partOf(known) === part)
  return requirement?.part === 'field' ? step === 'details' : step === 'documents'
}

/** What was sent back by name, and still has to be done or was done since: nothing else is asked for again. */
export const isCorrecting = ({ status, corrections }: Pick<View, 'status' | 'corrections'>): boolean =>
  status === 'retry' && corrections.length > 0

/** Parts that a step shows: all it asks for, or only what was sent back and what is missing. */
export const partsOf = (view: View, step: Step): readonly CorrectionPart[] => {
  const all = view.requirements.map(partOf).filter((part) => belongsTo(step, part, view.requirements))
  if (!isCorrecting(view)) return all
  return all.filter((part) => view.corrections.includes(part) || view.missing.includes(part))
}

/** The steps of a session, in their order. Those without anything to ask are left out. */
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

/** Whether everything that the step asks for is there. */
export const isDone = (view: View, step: Step): boolean => {
  if (step === 'welcome') return true
  if (step === 'consent') return hasAgreed(view)
  if (step === 'review') return false
  return !view.missing.some((part) => belongsTo(step, part, view.requirements))
}

/** The first step that is not done: nobody goes further. */
const openStep = (view: View): Step => stepsOf(view).find((step) => !isDone(view, step)) ?? 'review'

/** Where someone begins, or goes on who comes back. */
export const currentStep = (view: View): Step => {
  const [first] = stepsOf(view)
  return first === 'welcome' && !hasAgreed(view) ? first : openStep(view)
}

/** The step that was asked for, if one may be there already; else the first that is not done. */
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

/** Steps that are counted in front of people: the welcome is none. */
export const countedSteps = (view: View): readonly Step[] => stepsOf(view).filter((step) => step !== 'welcome')
