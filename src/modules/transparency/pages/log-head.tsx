import type { AnswerOf } from '../../../dashboard/page/api/client.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import { useReadLater } from '../../../dashboard/page/data/use-read-later.ts'
import { countWord } from '../../../dashboard/page/decisions/labels.tsx'
import { Copyable } from '../../../dashboard/page/ui/copy.tsx'
import { Badge, Card, Facts, Loading } from '../../../dashboard/page/ui/parts.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { Time } from '../../../dashboard/page/ui/time.tsx'
import { counted } from '../../../lib/counted.ts'

const LOOK_AGAIN_MS = 5_000

const Cosignatures = ({ head }: { readonly head: AnswerOf<'GET /decision-log/head'> }) => {
  const { witnesses, cosignatures_required: required, cosignatures_within_seconds: within } = head
  if (witnesses.length === 0) return <span class="soft">No witnesses configured</span>
  const wanted = `${required} of ${counted(witnesses.length, 'witness', 'witnesses')} within ${within} s`
  return head.cosignatures_late ? (
    <Badge tone="bad">Late; requires {wanted}</Badge>
  ) : (
    <Badge tone="good">On time; requires {wanted}</Badge>
  )
}

export const LogHeadCard = () => {
  const head = useRead('GET /decision-log/head')
  const { value } = head
  useReadLater(value !== null, value, LOOK_AGAIN_MS, head.reload)
  return (
    <Card
      title="Signed head"
      text="One signature that covers every line. Store it to verify later that no line was changed or removed."
    >
      {value === null ? (
        head.error === null ? (
          <Loading />
        ) : (
          <Problem error={head.error} retry={head.reload} />
        )
      ) : (
        <Facts
          items={[
            ['Lines', countWord(value.size)],
            ['Cosignatures', <Cosignatures key="cosignatures" head={value} />],
            ...value.witnesses.map(
              ({ name, cosigned_at: at }) => [name, <Time key={name} at={at} none="not cosigned" full />] as const,
            ),
            ['Log key', <Copyable key="key" text={value.log_key} label="log key" />],
          ]}
        />
      )}
    </Card>
  )
}
