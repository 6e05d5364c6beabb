import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/*
 * A real Apache Kafka of one node (KRaft: broker and controller in one process), started from its jars. They are taken
 * from TEST_KAFKA_LIBS, or fetched once by Maven into a folder of their own under the temporary one.
 */

const kafkaVersion = '4.1.0'
const fetchTimeoutMs = 120_000
const startTimeoutMs = 30_000

const cache = join(tmpdir(), `trilho-test-kafka-${kafkaVersion}`)

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
  if (existsSync(isWhole) && holdsKafka(libs)) return libs
  if (!runs('mvn', '-version')) return undefined
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, 'pom.xml'), pom)
  const fetched = spawnSync(
    'mvn',
    ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${libs}`],
    { cwd: cache, stdio: 'ignore', timeout: fetchTimeoutMs },
  )
  if (fetched.status !== 0 || !holdsKafka(libs)) return undefined
  writeFileSync(isWhole, '')
  return libs
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
  readonly address: string
  /** As if the machine had lost power. */
  readonly kill: () => Promise<void>
  /** With the data it had. */
  readonly start: () => Promise<void>
  /** Stops it and takes its data away. */
  readonly close: () => Promise<void>
}

export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Asks for TLS, SCRAM-SHA-512 or PLAIN, and a client certificate where one is there. */
export type KafkaSecurity = {
  /** Of the listener: PEM. */
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

const properties = (
  directory: string,
  port: number,
  controllerPort: number,
  security: KafkaSecurity | undefined,
): string => `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort},INTERNAL://127.0.0.1:0
advertised.listeners=CLIENT://127.0.0.1:${port},INTERNAL://127.0.0.1:0
controller.listener.names=CONTROLLER
inter.broker.listener.name=INTERNAL
listener.security.protocol.map=CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:${security === undefined ? 'PLAINTEXT' : 'SASL_SSL'}
log.dirs=${directory}/data
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
controller.quorum.election.timeout.ms=500
controller.quorum.election.backoff.max.ms=200
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
${security === undefined ? '' : securedListener(directory, security)}`

// No optimising compiler: the broker runs for seconds, on the cores the tests need.
const javaOptions = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx384m']

/** Starts a Kafka of its own; close it. */
export const startTestKafka = async (security?: KafkaSecurity): Promise<TestKafka> => {
  if (libs === undefined) throw new Error('no Kafka here')
  const directory = mkdtempSync(join(tmpdir(), 'trilho-test-kafka-data-'))
  const port = await freePort()
  const controllerPort = await freePort()
  const config = join(directory, 'server.properties')
  writeFileSync(config, properties(directory, port, controllerPort, security))
  const users =
    security === undefined
      ? []
      : ['--add-scram', `SCRAM-SHA-512=[name=${security.user},password=${security.password}]`]
  if (security !== undefined) {
    writeFileSync(join(directory, 'listener.pem'), security.key + security.cert)
    writeFileSync(join(directory, 'ca.pem'), security.ca)
  }
  const java = [...javaOptions, '-cp', join(libs, '*')]
  const random = crypto.getRandomValues(new Uint8Array(16))
  // Its first letter is then no hyphen, which would make it an option.
  random[0] = 1
  const id = Buffer.from(random).toString('base64url')
  const formatted = spawnSync('java', [
    ...java,
    ...['kafka.tools.StorageTool', 'format', '-t', id, '-c', config, ...users],
  ])
  if (formatted.status !== 0) throw new Error(`format failed: ${String(formatted.stderr)}`)
  let running: ChildProcess | undefined
  const start = async (): Promise<void> => {
    running = spawn('java', [...java, 'kafka.Kafka', config], { stdio: ['ignore', 'pipe', 'pipe'] })
    endWithThisProcess(running.pid ?? 0, directory)
    await started(running)
  }
  const kill = async (): Promise<void> => {
    const child = running
    running = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    address: `127.0.0.1:${port}`,
    kill,
    start,
    close: async () => {
      await kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

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
    log = (log + chunk.toString()).slice(-10_000)
    if (log.includes('Kafka Server started')) ready.resolve()
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

/** The runner may be killed: a shell waits for it and cleans up. */
const endWithThisProcess = (pid: number, directory: string): void => {
  const script = `while kill -0 ${process.pid} 2>/dev/null && kill -0 ${pid} 2>/dev/null; do sleep 0.5; done; kill -0 ${process.pid} 2>/dev/null || { kill -9 ${pid}; sleep 0.5; rm -rf "$1"; }`
  spawn('sh', ['-c', script, 'sh', directory], { detached: true, stdio: 'ignore' }).unref()
}
