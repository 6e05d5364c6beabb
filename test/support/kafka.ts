import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterThisProcess } from './after-this-process.ts'
import { freePort } from './free-port.ts'
import { shortJava } from './java.ts'
import { keptPath, madeOnce } from './made-once.ts'
import { temporaryDirectory } from './temporary.ts'

/*
 * A real Apache Kafka (KRaft: broker and controller in one process), started from its jars. They are taken
 * from TEST_KAFKA_LIBS, or fetched once by Maven into a folder of their own under the temporary one.
 */

const kafkaVersion = '4.1.0'
const fetchTimeoutMs = 120_000
const startTimeoutMs = 60_000

const cache = keptPath('kafka', kafkaVersion)

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>trilho</groupId><artifactId>test-kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafkaVersion}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`

const runs = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0

const holdsKafka = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('kafka_'))

/** The folder with Kafka's jars; undefined where there is none and none can be fetched. */
const findLibs = (): string | undefined => {
  if (!runs('java', '-version')) return undefined
  const given = process.env['TEST_KAFKA_LIBS']
  if (given !== undefined) return holdsKafka(given) ? given : undefined
  const libs = join(cache, 'libs')
  // Written last: half a download is not taken for Kafka.
  const isWhole = join(cache, 'complete')
  if (!holdsKafka(libs)) rmSync(isWhole, { force: true })
  if (!existsSync(isWhole)) fetchLibs(libs, isWhole)
  return existsSync(isWhole) ? libs : undefined
}

const fetchLibs = (libs: string, isWhole: string): void => {
  if (!runs('mvn', '-version')) return
  madeOnce(isWhole, () => {
    writeFileSync(join(cache, 'pom.xml'), pom)
    const fetched = spawnSync(
      'mvn',
      ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${libs}`],
      { cwd: cache, stdio: 'ignore', timeout: fetchTimeoutMs },
    )
    if (fetched.status === 0 && holdsKafka(libs)) writeFileSync(isWhole, '')
  })
}

const libs = findLibs()

/** False: the tests are to be skipped; why and what to do was printed. */
export const isKafkaHere = libs !== undefined
if (!isKafkaHere) {
  process.stderr.write(
    'SKIPPED: tests with a real Apache Kafka. They need `java` (17 or newer) and `mvn` with a way to Maven Central, or TEST_KAFKA_LIBS naming a folder with the jars of org.apache.kafka:kafka_2.13.\n',
  )
}

export type TestKafka = {
  /** The address of the first node. */
  readonly address: string
  readonly addresses: readonly string[]
  /** A node, the first by default, as if its machine had lost power. */
  readonly kill: (node?: number) => Promise<void>
  /** With the data it had. */
  readonly start: (node?: number) => Promise<void>
  /** Stops it and takes its data away. */
  readonly close: () => Promise<void>
}

/** Asks for TLS, SCRAM-SHA-512 or PLAIN, and a client certificate where one is there. */
export type KafkaSecurity = {
  /** The listener's certificate and key, PEM. */
  readonly cert: string
  readonly key: string
  /** Whose client certificates are taken. */
  readonly ca: string
  readonly user: string
  readonly password: string
}

const securedListener = (directory: string, { user, password }: KafkaSecurity): string => {
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule'
  const prefix = 'listener.name.client'
  return `
ssl.keystore.type=PEM
ssl.keystore.location=${directory}/listener.pem
ssl.truststore.type=PEM
ssl.truststore.location=${directory}/ca.pem
ssl.client.auth=requested
${prefix}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
${prefix}.plain.sasl.jaas.config=${plain} required user_${user}="${password}";
${prefix}.scram-sha-512.sasl.jaas.config=${scram} required;
`
}

type Node = { readonly port: number; readonly controllerPort: number }

type Cluster = {
  readonly directory: string
  readonly nodes: readonly Node[]
  readonly security: KafkaSecurity | undefined
}

/** The properties of the node with this index. */
const properties = ({ directory, nodes, security }: Cluster, index: number): string => {
  const { port = 0, controllerPort = 0 } = nodes[index] ?? {}
  // A single node must not wait for others; of three, two have to have what is published.
  const inSync = Math.min(2, nodes.length)
  return `
process.roles=broker,controller
node.id=${index + 1}
controller.quorum.voters=${nodes.map((node, at) => `${at + 1}@127.0.0.1:${node.controllerPort}`).join(',')}
listeners=CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort},INTERNAL://127.0.0.1:0
advertised.listeners=CLIENT://127.0.0.1:${port},INTERNAL://127.0.0.1:0
controller.listener.names=CONTROLLER
inter.broker.listener.name=INTERNAL
listener.security.protocol.map=CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:${security === undefined ? 'PLAINTEXT' : 'SASL_SSL'}
log.dirs=${storeOf(directory, index)}
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
controller.quorum.election.timeout.ms=500
controller.quorum.election.backoff.max.ms=200
auto.create.topics.enable=false
default.replication.factor=${nodes.length}
min.insync.replicas=${inSync}
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
offsets.topic.replication.factor=${nodes.length}
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=${nodes.length}
transaction.state.log.min.isr=${inSync}
${security === undefined ? '' : securedListener(directory, security)}`
}

// No optimising compiler: the broker runs for seconds, on the cores the tests need.
const javaOptions = [...shortJava, '-Xmx384m']

/** Starts a Kafka of its own; close it. */
export const startTestKafka = async ({
  nodes: nodesMax = 1,
  security,
}: {
  readonly nodes?: number
  readonly security?: KafkaSecurity
} = {}): Promise<TestKafka> => {
  if (libs === undefined) throw new Error('no Kafka here')
  const directory = mkdtempSync(join(tmpdir(), 'trilho-test-kafka-data-'))
  const nodes: Node[] = []
  while (nodes.length < nodesMax) {
    nodes.push({ port: freePort(), controllerPort: freePort() })
  }
  const java = [...javaOptions, '-cp', join(libs, '*')]
  prepareNodes(java, { directory, nodes, security })
  const running = new Map<number, ChildProcess>()
  const start = async (node = 0): Promise<void> => {
    const child = spawn('java', [...java, 'kafka.Kafka', configOf(directory, node)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.set(node, child)
    // By then the number may be another process's: its arguments name the folder.
    const isStill = 'ps -o args= -p "$2" | grep -qF "$1"'
    const end = `${isStill} && kill -9 "$2" && sleep 0.5; rm -rf "$1"`
    afterThisProcess(end, directory, String(child.pid))
    await started(child)
  }
  const kill = async (node = 0): Promise<void> => {
    const child = running.get(node)
    running.delete(node)
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  await Promise.all(nodes.map((_, node) => start(node)))
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  return {
    address: addresses[0] ?? '',
    addresses,
    kill,
    start,
    close: async () => {
      await Promise.all(nodes.map((_, node) => kill(node)))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const configOf = (directory: string, node: number): string =>
  join(directory, `node-${node}.properties`)

const storeOf = (directory: string, node: number): string => join(directory, `data-${node}`)

/** Settings and empty stores. */
const prepareNodes = (java: readonly string[], cluster: Cluster): void => {
  const { directory, nodes, security } = cluster
  if (security !== undefined) {
    writeFileSync(join(directory, 'listener.pem'), security.key + security.cert)
    writeFileSync(join(directory, 'ca.pem'), security.ca)
  }
  const users =
    security === undefined
      ? []
      : ['--add-scram', `SCRAM-SHA-512=[name=${security.user},password=${security.password}]`]
  // What a single node without users is given at first is the same each time, and its making takes seconds.
  const isPlain = nodes.length === 1 && security === undefined
  if (isPlain && emptyStore !== undefined) {
    writeFileSync(configOf(directory, 0), properties(cluster, 0))
    cpSync(emptyStore, storeOf(directory, 0), { recursive: true })
    return
  }
  const random = crypto.getRandomValues(new Uint8Array(16))
  // Its first letter is then no hyphen, which would make it an option.
  random[0] = 1
  const id = Buffer.from(random).toString('base64url')
  for (const node of nodes.keys()) {
    const config = configOf(directory, node)
    writeFileSync(config, properties(cluster, node))
    const formatted = spawnSync('java', [
      ...java,
      'kafka.tools.StorageTool',
      'format',
      '-t',
      id,
      '-c',
      config,
      ...users,
    ])
    if (formatted.status !== 0) throw new Error(`format failed: ${String(formatted.stderr)}`)
  }
  if (!isPlain) return
  emptyStore = join(temporaryDirectory(), 'store')
  cpSync(storeOf(directory, 0), emptyStore, { recursive: true })
}

let emptyStore: string | undefined

let shared: Promise<TestKafka> | undefined

/** One for all tests that leave it running, started when the first asks; it ends with this process. */
export const sharedTestKafka = (): Promise<TestKafka> => {
  shared ??= startTestKafka()
  return shared
}

const started = async (child: ChildProcess): Promise<void> => {
  let log = ''
  const ready = Promise.withResolvers<void>()
  const read = (chunk: Buffer): void => {
    log += chunk.toString()
    // Before what is old is cut off: where the loop was busy, one chunk may be longer than what is kept.
    if (log.includes('Kafka Server started')) ready.resolve()
    log = log.slice(-10_000)
  }
  child.stdout?.on('data', read)
  child.stderr?.on('data', read)
  child.once('exit', () => ready.reject(new Error(`Kafka ended: ${log.slice(-2_000)}`)))
  const timer = setTimeout(
    () => ready.reject(new Error(`Kafka did not start: ${log.slice(-2_000)}`)),
    startTimeoutMs,
  )
  await ready.promise.finally(() => clearTimeout(timer))
  // From now on only an end that was asked for.
  child.removeAllListeners('exit')
}
