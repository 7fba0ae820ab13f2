// The help of `bun run bench`.
import { LONG_PARTS, USUAL_PARTS } from './options.ts'

export const USAGE = `bun run bench [options]

  --quick            fewer and shorter rounds: a first impression, not a result to quote
  --ratios           the table of ratios alone: quick rounds of the necessary parts, about nine minutes on two cores
  --only a,b         some parts only: ${USUAL_PARTS.join(', ')};
                     long parts run only when they are named: ${LONG_PARTS.join(', ')};
                     all is everything; peers downloads Cerbos, Cedar and GoRules Zen from npm into a temporary folder
  --rounds N         rounds, interleaved over the parts (5; with --quick 3)
  --connections N    connections of the load generator (64)
  --rate N           requests per second of the open loop (1000)
  --signer NAME      secp256k1 backend of the service: auto, libsecp256k1, secp256k1-node, noble (auto)
  --minutes N        how long the soak takes (60)
  --soak-rate N      its requests per second (70% of the capacity that it measures at its start)
  --workers 0,1,2    workers of each process that the sweep tries (by default from the cores); 0: signing where it answers
  --processes 1,2    the same for processes
  --images FOLDER    where sweep and soak draw bench-*.svg (docs/images; with --quick only where this is given)
  --json             print the result as JSON and nothing else

Load on a deployment that already runs, instead of servers started here:
  --url URL          its base URL, for example http://127.0.0.1:8080
  --key KEY          an attestation key; BENCH_KEY in the environment keeps it out of the process list
  --keys FILE        attestation keys that the requests use in turn, one per line
  --generators N     load generators on this machine, each on its own core (1)
  --generator CMD    a further generator, for example 'ssh load2 bun countersign/bench/load/generator.ts'; may be repeated
  --hash HASH        interface-only requests for this verification hash, or
  --to ADDRESS       on-chain requests for this contract
  --chain NAME       chain of the requests (sepolia)

Throughput counts attestations answered within a second; refused, late and failed requests are shown separately.
Ctrl-C prints and draws the results so far. Progress goes to stderr.
Exit codes: 0 success, 1 a failure, or a finding that makes the numbers doubtful, 2 invalid options, 130 stopped.
bun bench/compare.ts A.json B.json compares two results.`
