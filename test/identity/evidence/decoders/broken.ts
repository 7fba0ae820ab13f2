// A decoder that the system kills during its work.
await Bun.write(Bun.stdout, 'half a picture')
process.kill(process.pid, 'SIGSEGV')

export {}
