import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import type { Contender, Group } from '../harness.ts'

/** Sends the program a line with the number of documents; it answers with its sum and its CPU time so far, in µs. */
const startProgram = (command: readonly string[]) => {
  const child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const answer = async (): Promise<string> => {
    let text = ''
    while (!text.endsWith('\n')) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`${command.join(' ')} ended`)
      text += value
    }
    return text
  }
  return {
    async ask(times: number) {
      child.stdin.write(`${times}\n`)
      child.stdin.flush()
      const [sum = '', cpuUs = ''] = (await answer()).trim().split(' ')
      return { sum: BigInt(sum), cpuUs: Number(cpuUs) }
    },
    stop: () => child.kill(),
  }
}

/**
 * A peer that is a program of its own, in any language. A file holds the documents, each behind its length in four
 * bytes; each request begins with the first.
 *
 * @param command builds the program if necessary; the file becomes its last argument
 */
const programPeer = (
  name: string,
  command: () => readonly string[],
  documents: () => readonly Uint8Array[],
  warmUp = 0,
): Contender => {
  let program: ReturnType<typeof startProgram> | undefined
  let usedUs = 0
  const start = async () => {
    const file = join(temporaryDirectory(), 'documents')
    const parts = documents().flatMap((one) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(one.length)
      return [length, one]
    })
    writeFileSync(file, Buffer.concat(parts))
    const started = startProgram([...command(), file])
    // We wait until it runs, so that its start does not count.
    await started.ask(0)
    return started
  }
  return {
    name,
    warmUp,
    async run(times) {
      program ??= await start()
      const { sum, cpuUs } = await program.ask(times)
      usedUs = cpuUs
      return sum
    },
    cpuUs: () => Promise.resolve(usedUs),
    stop: () => program?.stop(),
  }
}

const run = (command: readonly string[], cwd = import.meta.dir): void => {
  const { success, stderr } = Bun.spawnSync([...command], { cwd })
  if (!success) throw new Error(stderr.toString())
}

const built = new Map<string, readonly string[]>()

/** Builds once in a process. */
const once = (name: string, build: (file: string) => readonly string[]) => () => {
  const command = built.get(name) ?? build(join(temporaryDirectory(), name))
  built.set(name, command)
  return command
}

const inNode = once('in-node.mjs', (file) => {
  const entry = join(import.meta.dir, 'in-node.ts')
  run([process.execPath, 'build', '--target=node', entry, '--outfile', file])
  return ['node', file]
})
const inGo = once('go-xml', (file) => {
  run(['go', 'build', '-o', file, 'main.go'], join(import.meta.dir, 'go'))
  return [file]
})
const inJava = () => ['java', join(import.meta.dir, 'Stax.java')]

/** Documents until the JDK has compiled all the code that one needs. */
const javaWarmUp = 20_000

const has = (program: string): boolean => Bun.which(program) !== null

/** Node runs the peers of JavaScript about this many times as fast as Bun: we divide a goal in Bun by it. */
export const nodeTimes = 1.6

/** A goal against each of these peers. */
export const goalsAgainst = (
  peers: readonly Contender[],
  ours: string,
  atLeast: number,
): Group['goals'] => peers.map(({ name }) => ({ ours, peer: name, atLeast }))

/** A peer of JavaScript in Node, which runs it faster than Bun; none without Node. */
export const nodePeer = (
  module: 'saxes' | 'pix-utils',
  documents: () => readonly Uint8Array[],
): readonly Contender[] =>
  has('node') ? [programPeer(`${module} (Node)`, () => [...inNode(), module], documents)] : []

/** The parsers of XML in the standard libraries of Go and Java, if this machine can build them. */
export const standardParsers = (documents: () => readonly Uint8Array[]): readonly Contender[] => [
  ...(has('go') ? [programPeer('encoding/xml (Go)', inGo, documents)] : []),
  ...(has('javac') ? [programPeer('StAX of the JDK (Java)', inJava, documents, javaWarmUp)] : []),
]

/** The peers that we leave out because this machine lacks their program. */
export const leftOut = (): readonly string[] =>
  Object.entries({
    node: 'saxes and pix-utils in Node',
    go: 'encoding/xml of Go',
    javac: 'StAX of the JDK',
    gcc: 'libxml2 in C',
  }).flatMap(([program, peer]) => (has(program) ? [] : [`${peer}: no ${program} here`]))
