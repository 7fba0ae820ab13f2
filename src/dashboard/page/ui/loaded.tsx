// If a reload fails, the outdated data stays visible and is marked.
import type { ComponentChildren } from 'preact'
import type { Query } from '../data/use-query.ts'
import { Loading } from './parts.tsx'
import { Problem } from './problem.tsx'

interface LoadedProps<Value> {
  readonly query: Query<Value>
  readonly children: (value: Value) => ComponentChildren
}

export const Loaded = <Value,>({ query, children }: LoadedProps<Value>) => {
  const { value, error, reload } = query
  if (value === null) return error === null ? <Loading /> : <Problem error={error} retry={reload} />
  return (
    <>
      <Problem error={error} retry={reload} />
      {children(value)}
    </>
  )
}
