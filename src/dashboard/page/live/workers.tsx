// How many workers sign: what there is, what was asked for, and a number to ask for another. The new number is there
// within seconds; what the live stream says is shown meanwhile.
import { useEffect } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { LivePoint } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useQuery } from '../data/use-query.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Badge, Card, Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { formatNumber } from './format.ts'

const WORKERS_MAX = 64
const REREAD_MS = 5_000

const check = ({ workers }: { readonly workers: string }): Readonly<Record<string, string>> => {
  const count = Number(workers)
  const fits = /^[0-9]+$/.test(workers.trim()) && count >= 1 && count <= WORKERS_MAX
  return fits ? {} : { workers: `A whole number from 1 to ${WORKERS_MAX}.` }
}

const stateOf = ({ live, wanted }: Pick<LivePoint['workers'], 'live' | 'wanted'>) => {
  if (live < wanted) return <Badge tone="info">{`Starting ${wanted - live}`}</Badge>
  if (live > wanted) return <Badge tone="info">{`Ending ${live - wanted}`}</Badge>
  return <Badge tone="good">As asked for</Badge>
}

/** @param newest the last second; null before there was one */
export const Workers = ({ newest }: { readonly newest: LivePoint | null }) => {
  const pool = useQuery((signal) => call('GET /pool', { signal }), [])
  const { reload } = pool
  useEffect(() => {
    const timer = setInterval(reload, REREAD_MS)
    return () => clearInterval(timer)
  }, [reload])
  const form = useForm({
    initial: { workers: '' },
    check,
    submit: async ({ workers }): Promise<void> => {
      const answer = await call('PATCH /pool', { body: { workers: Number(workers) } })
      pool.set(answer)
      say(`${answer.workers.wanted} workers asked for`)
    },
  })
  const { value } = pool
  const wanted = value?.workers.wanted
  // The field begins with what is; what someone typed stays.
  useEffect(() => {
    if (wanted !== undefined && form.values.workers === '') form.set('workers', String(wanted))
  }, [wanted])
  if (value === null) {
    return (
      <Card title="Signing workers">
        {pool.error === null ? <Loading /> : <Problem error={pool.error} retry={reload} />}
      </Card>
    )
  }
  // The stream is newer than what was read, but for what was just asked for.
  const workers = {
    ...value.workers,
    ...(newest === null ? {} : { live: newest.workers.live, busy: newest.workers.busy }),
  }
  const { crash, hang, start } = value.restarts
  const step = (by: number): void => {
    const count = Number(form.values.workers)
    form.set('workers', String(Math.min(WORKERS_MAX, Math.max(1, (Number.isFinite(count) ? count : 1) + by))))
  }
  return (
    <section class="card workers" aria-label="Signing workers">
      <form {...form.attributes} class="workers-form">
        <TextField
          {...form.text('workers')}
          label="Signing workers"
          type="number"
          input={{ min: 1, max: WORKERS_MAX, step: 1, inputMode: 'numeric' }}
        />
        <div class="workers-buttons">
          <Button aria-label="One fewer" onClick={() => step(-1)}>
            −
          </Button>
          <Button aria-label="One more" onClick={() => step(1)}>
            +
          </Button>
          <Button kind="primary" submit busy={form.busy}>
            Resize
          </Button>
        </div>
      </form>
      <p class="workers-state" role="status">
        <strong class="workers-live">{workers.live}</strong>
        <span>
          live of {workers.wanted} {stateOf(workers)}
        </span>
      </p>
      <p class="workers-facts">
        <span>
          Signs with <code>{value.signer}</code>, {formatNumber(value.mean_service_ms * 1000)} µs each
        </span>
        <span>
          Queue: {newest?.queue.waiting ?? value.queue.waiting} of at most {value.queue.limit.toLocaleString('en')}
        </span>
        <span>
          Restarts: {crash} crashed, {hang} hung, {start} did not start
          {workers.abandoned > 0 && `; ${workers.abandoned} given up`}
        </span>
        <span>
          Until the next start; then the setting <code>workers</code> counts.
        </span>
      </p>
      <Problem error={form.failure} />
    </section>
  )
}
