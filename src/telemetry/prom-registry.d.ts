// The registry alone: the package's own entry also loads its counters, its summaries and OpenTelemetry.
declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client'
}
