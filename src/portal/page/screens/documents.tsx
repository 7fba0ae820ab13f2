import { useCallback, useRef, useState } from 'preact/hooks'
import type { DocumentKind } from '../../../domain/requirements.ts'
import { DocumentCard } from '../documents/document-card.tsx'
import { useMessages } from '../language.ts'
import { partsOf, type StepProps } from '../steps.ts'
import { Disclosure } from '../ui/disclosure.tsx'
import { PhoneCode } from '../ui/handover.tsx'
import { Notice, Screen } from '../ui/parts.tsx'
import { StepActions } from '../ui/step-actions.tsx'
import { isPhone } from '../wallets/apps.ts'

export const Documents = ({ view, calls, apply, next, back, announce }: StepProps) => {
  const { documents, partsInline, common } = useMessages()
  // Captured on opening, so that an uploaded document stays visible.
  const [kinds] = useState(() => partsOf(view, 'documents') as readonly DocumentKind[])
  const [problem, setProblem] = useState<'missing' | 'waiting' | null>(null)
  const pending = useRef(new Map<DocumentKind, number>())
  const onPending = useCallback((kind: DocumentKind, count: number): void => {
    pending.current.set(kind, count)
    if (count === 0) setProblem((now) => (now === 'waiting' ? null : now))
  }, [])
  const missing = kinds.filter((kind) => view.missing.includes(kind))

  const proceed = (): void => {
    const waiting = [...pending.current.values()].some((count) => count > 0)
    if (waiting) setProblem('waiting')
    else if (missing.length > 0) setProblem('missing')
    else next()
  }

  return (
    <Screen
      title={view.checkType === 'kyc' ? documents.title : documents.titleBusiness}
      lead={documents.lead}
      actions={<StepActions back={back} onNext={proceed} />}
    >
      {kinds.map((kind) => (
        <DocumentCard
          key={kind}
          kind={kind}
          view={view}
          calls={calls}
          apply={apply}
          announce={announce}
          onPending={onPending}
        />
      ))}
      {!isPhone() && (
        <div class="ways">
          <Disclosure icon="phone" title={documents.phoneAction} text={documents.phoneText}>
            {() => <PhoneCode calls={calls} />}
          </Disclosure>
        </div>
      )}
      {problem === 'waiting' && (
        <Notice urgent>
          <p>{documents.wait}</p>
        </Notice>
      )}
      {problem === 'missing' && missing.length > 0 && (
        <Notice tone="warn" urgent>
          <p>{documents.missing(common.listOf(missing.map((kind) => partsInline[kind])))}</p>
        </Notice>
      )}
    </Screen>
  )
}
