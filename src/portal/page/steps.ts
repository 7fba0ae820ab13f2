// The steps of a session on the page: which it has, which are done, and which one the person may see. Pure.
import type { Requirement, SessionPart } from '../../domain/requirements.ts'
import type { SessionView } from '../contract.ts'

export const STEPS = ['welcome', 'consent', 'wallets', 'details', 'documents', 'review'] as const
export type Step = (typeof STEPS)[number]

type View = Pick<SessionView, 'status' | 'requirements' | 'missing' | 'corrections' | 'agreement' | 'agreementVersion'>

const partOf = (requirement: Requirement): SessionPart =>
  requirement.part === 'field' ? requirement.name : requirement.kind

/** Whether a step asks for a part. */
const belongsTo = (step: Step, part: SessionPart, requirements: readonly Requirement[]): boolean => {
  if (part === 'wallets') return step === 'wallets'
  const requirement = requirements.find((known) => partOf(known) === part)
  return requirement?.part === 'field' ? step === 'details' : step === 'documents'
}

/** Whether the session was sent back for certain parts. Then only these are asked for. */
export const isCorrecting = ({ status, corrections }: Pick<View, 'status' | 'corrections'>): boolean =>
  status === 'retry' && corrections.length > 0

/** The parts that a step shows: all of its parts or, in a session that was sent back, those to correct or missing. */
export const partsOf = (view: View, step: Step): readonly SessionPart[] => {
  const all = view.requirements.map(partOf).filter((part) => belongsTo(step, part, view.requirements))
  if (!isCorrecting(view)) return all
  return all.filter((part) => view.corrections.includes(part) || view.missing.includes(part))
}

/** The steps of a session, in order, without steps that ask for nothing. */
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

/** Whether the person has given everything that the step asks for. */
export const isDone = (view: View, step: Step): boolean => {
  if (step === 'welcome') return true
  if (step === 'consent') return hasAgreed(view)
  if (step === 'review') return false
  return !view.missing.some((part) => belongsTo(step, part, view.requirements))
}

/** The first step that is not done. Later steps can't be opened. */
const openStep = (view: View): Step => stepsOf(view).find((step) => !isDone(view, step)) ?? 'review'

/** The step that the page shows first. */
export const currentStep = (view: View): Step => {
  const [first] = stepsOf(view)
  return first === 'welcome' && !hasAgreed(view) ? first : openStep(view)
}

/** The wanted step, if it may be opened already; otherwise the first that is not done. */
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

/** The steps that the page counts for people: all except the welcome. */
export const countedSteps = (view: View): readonly Step[] => stepsOf(view).filter((step) => step !== 'welcome')
