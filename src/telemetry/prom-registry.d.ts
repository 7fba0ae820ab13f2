// Declares only the registry: the package's main entry also loads counters, summaries and OpenTelemetry.
declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client'
}
