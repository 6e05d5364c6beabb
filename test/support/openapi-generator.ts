import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shortJava } from './java.ts'
import { keptPath, madeOnce } from './made-once.ts'

/*
 * openapi-generator and what its Java client needs to compile. The jars are taken from TEST_OPENAPI_GENERATOR_LIBS, or
 * fetched once by Maven into a folder of their own under the temporary one.
 */

const version = '7.23.0'
const jackson = '2.21.1'
const jars = [
  `org.openapitools:openapi-generator-cli:${version}`,
  `com.fasterxml.jackson.core:jackson-databind:${jackson}`,
  `com.fasterxml.jackson.datatype:jackson-datatype-jsr310:${jackson}`,
  'org.openapitools:jackson-databind-nullable:0.2.10',
  'jakarta.annotation:jakarta.annotation-api:1.3.5',
  'com.google.code.findbugs:jsr305:3.0.2',
  'org.apache.httpcomponents:httpmime:4.5.14',
]
const fetchTimeoutMs = 120_000

const cache = keptPath('openapi-generator', jars.join())

const dependency = (jar: string): string => {
  const [group, artifact, number] = jar.split(':')
  // The generator carries all it needs within itself.
  const alone =
    '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>'
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${number}</version>${artifact === 'openapi-generator-cli' ? alone : ''}</dependency>`
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>trilho</groupId><artifactId>test-openapi-generator</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>${jars.map(dependency).join('')}</dependencies>
</project>
`

const runs = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0

const nameStart = 'openapi-generator-cli-'

const holdsGenerator = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(nameStart))

const findLibs = (): string | undefined => {
  if (!runs('java', '-version')) return undefined
  const given = process.env['TEST_OPENAPI_GENERATOR_LIBS']
  if (given !== undefined) return holdsGenerator(given) ? given : undefined
  const libs = join(cache, 'libs')
  const isWhole = join(cache, 'complete')
  if (!existsSync(isWhole) && runs('mvn', '-version')) {
    madeOnce(isWhole, () => {
      mkdirSync(cache, { recursive: true })
      writeFileSync(join(cache, 'pom.xml'), pom)
      const fetched = spawnSync(
        'mvn',
        ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${libs}`],
        { cwd: cache, stdio: 'ignore', timeout: fetchTimeoutMs },
      )
      if (fetched.status === 0 && holdsGenerator(libs)) writeFileSync(isWhole, '')
    })
  }
  return existsSync(isWhole) ? libs : undefined
}

/** The folder with the jars; undefined where there is none and none can be fetched. */
export const generatorLibs = findLibs()

/** The end of a skipped test's name. */
export const noGenerator =
  generatorLibs === undefined
    ? ' [skipped: needs java and mvn with a way to Maven Central, or TEST_OPENAPI_GENERATOR_LIBS]'
    : ''

/** The command that runs the generator. */
export const generatorCommand = (libs: string): readonly string[] => {
  const jar = readdirSync(libs).find((name) => name.startsWith(nameStart)) ?? ''
  return ['java', ...shortJava, '-jar', join(libs, jar)]
}
