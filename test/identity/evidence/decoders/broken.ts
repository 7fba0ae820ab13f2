// A decoder that is ended by the system in the middle of its work.
await Bun.write(Bun.stdout, 'half a picture')
process.kill(process.pid, 'SIGSEGV')

export {}
