// New processes and workers start within seconds; the live stream shows the progress.

import { useEffect } from 'preact/hooks'
import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { Pool } from '../api/types.ts'
import { type Form, useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Badge, Card, Loading } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { formatNumber } from './format.ts'
import { ProcessTable } from './process-table.tsx'
import type { LiveSecond } from './use-live.ts'

const WORKERS_MAX = 64
const REREAD_MS = 5_000

interface Wanted {
  readonly processes: string
  readonly workers: string
}

const fits = (text: string, max: number): boolean =>
  /^[0-9]+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= max

/** @param inPlace whether the main thread signs; the number of workers is then fixed */
const check = (
  { processes, workers }: Wanted,
  processesMax: number,
  inPlace: boolean,
): Readonly<Record<string, string>> => ({
  ...(fits(processes, processesMax)
    ? {}
    : {
        processes:
          processesMax === 1
            ? 'Only 1 on this system: multiple processes require Linux.'
            : `Enter a whole number from 1 to ${processesMax}.`,
      }),
  ...(inPlace || fits(workers, WORKERS_MAX) ? {} : { workers: `Enter a whole number from 1 to ${WORKERS_MAX}.` }),
})

const processesOf = (count: number): string => counted(count, 'process', 'processes')
const workersOf = (count: number): string => counted(count, 'worker', 'workers')

interface Shown {
  readonly processes: { readonly there: number; readonly ready: number; readonly wanted: number }
  readonly workers: { readonly live: number; readonly wanted: number }
}

const stateOf = ({ processes, workers }: Shown) => {
  if (processes.ready < processes.wanted) {
    return <Badge tone="info">{`Starting ${processesOf(processes.wanted - processes.ready)}`}</Badge>
  }
  if (processes.there > processes.wanted) {
    return <Badge tone="info">{`Stopping ${processesOf(processes.there - processes.wanted)}`}</Badge>
  }
  if (workers.live < workers.wanted)
    return <Badge tone="info">{`Starting ${workersOf(workers.wanted - workers.live)}`}</Badge>
  if (workers.live > workers.wanted)
    return <Badge tone="info">{`Stopping ${workersOf(workers.live - workers.wanted)}`}</Badge>
  return <Badge tone="good">At requested size</Badge>
}

/** Returns the state from the stream, which is newer than the last read except for the requested numbers. */
const shownOf = (pool: Pool, newest: LiveSecond | null): Shown => {
  const each = newest?.processes ?? pool.processes.each
  return {
    processes: {
      there: each.length,
      ready: each.filter(({ state }) => state === 'ready').length,
      wanted: pool.processes.wanted,
    },
    workers: { live: newest?.workers.live ?? pool.workers.live, wanted: pool.workers.wanted },
  }
}

interface StepperProps {
  readonly form: Form<{ processes: string; workers: string }>
  readonly name: keyof Wanted
  readonly label: string
  readonly one: string
  readonly max: number
}

const Stepper = ({ form, name, label, one, max }: StepperProps) => {
  const step = (by: number): void => {
    const now = Number(form.values[name])
    form.set(name, String(Math.min(max, Math.max(1, (Number.isFinite(now) ? now : 1) + by))))
  }
  return (
    <div class="stepper">
      <TextField
        {...form.text(name)}
        label={label}
        type="number"
        input={{ min: 1, max, step: 1, inputMode: 'numeric' }}
      />
      <Button aria-label={`Remove one ${one}`} onClick={() => step(-1)}>
        −
      </Button>
      <Button aria-label={`Add one ${one}`} onClick={() => step(1)}>
        +
      </Button>
    </div>
  )
}

export const Workers = ({ newest }: { readonly newest: LiveSecond | null }) => {
  const pool = useRead('GET /pool')
  const { reload, value } = pool
  useEffect(() => {
    const timer = setInterval(reload, REREAD_MS)
    return () => clearInterval(timer)
  }, [reload])
  const processesMax = value?.processes.max ?? 1
  const inPlace = value?.workers.each === 0
  const form = useForm({
    initial: { processes: '', workers: '' },
    check: (values) => check(values, processesMax, inPlace),
    submit: async ({ processes, workers }): Promise<void> => {
      const answer = await call('PATCH /pool', { body: { processes: Number(processes), workers: Number(workers) } })
      pool.set(answer)
      const each = inPlace ? '' : ` with ${workersOf(answer.workers.each)} each`
      say(`Requested ${processesOf(answer.processes.wanted)}${each}`)
    },
  })
  const wantedProcesses = value?.processes.wanted
  const wantedWorkers = value?.workers.each
  // Fields start with the current numbers; typed values are kept.
  useEffect(() => {
    if (wantedProcesses !== undefined && form.values.processes === '') form.set('processes', String(wantedProcesses))
    if (wantedWorkers !== undefined && form.values.workers === '') form.set('workers', String(wantedWorkers))
  }, [wantedProcesses, wantedWorkers])
  if (value === null) {
    return (
      <Card title="Processes and signing workers">
        {pool.error === null ? <Loading /> : <Problem error={pool.error} retry={reload} />}
      </Card>
    )
  }
  const shown = shownOf(value, newest)
  const { crash, hang, start } = value.restarts
  return (
    <section class="card workers" aria-label="Processes and signing workers">
      <form {...form.attributes} class="workers-form">
        <Stepper form={form} name="processes" label="Processes" one="process" max={processesMax} />
        {!inPlace && <Stepper form={form} name="workers" label="Workers per process" one="worker" max={WORKERS_MAX} />}
        <Button kind="primary" submit busy={form.busy}>
          Resize
        </Button>
      </form>
      <p class="workers-state" role="status">
        <strong class="workers-live">{shown.workers.live}</strong>
        <span>
          of {workersOf(shown.workers.wanted)} live in {processesOf(shown.processes.ready)} {stateOf(shown)}
        </span>
      </p>
      <p class="workers-facts">
        <span>
          Signs with <code>{value.signer}</code>, {formatNumber(value.mean_service_ms * 1000)} µs per signature, on{' '}
          {counted(value.cores, 'core', 'cores')}
        </span>
        <span>
          Queue: {newest?.queue.waiting ?? value.queue.waiting} of {value.queue.limit.toLocaleString('en')}
        </span>
        <span>
          Workers: {crash} crashed, {hang} hung, {start} failed to start
          {value.workers.abandoned > 0 && `; ${value.workers.abandoned} abandoned`}
        </span>
        <span>
          {inPlace && 'Each process signs on its main thread. '}
          Applies until the next restart, which uses the settings <code>processes</code> and <code>workers</code>.
        </span>
      </p>
      <Problem error={form.failure} />
      <ProcessTable processes={newest?.processes ?? value.processes.each} />
    </section>
  )
}
