import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { keptPath, madeOnce } from './made-once.ts'
import { unlessMissing } from './second-implementation.ts'

/** Options for machines that run for seconds: they compile nothing well, and one thread collects their garbage. */
export const shortJava = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] as const

const commandTimeoutMs = 60_000

/**
 * The class path of the `pom.xml` in the folder, as Maven knows or fetches it; undefined where there is none. Maven is
 * asked once, since it takes longer than the programs that the path is for.
 */
export const classpathOf = async (folder: string): Promise<string | undefined> => {
  if (unlessMissing('java').missing || unlessMissing('mvn').missing) return undefined
  const pom = join(folder, 'pom.xml')
  const file = keptPath('classpath', readFileSync(pom, 'utf8'))
  const isThere = (): boolean =>
    existsSync(file) && readFileSync(file, 'utf8').split(':').every(existsSync)
  if (!isThere()) rmSync(file, { force: true })
  madeOnce(file, () => {
    const partial = `${file}.partial`
    const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${partial}`]
    const resolve = (options: readonly string[]): boolean =>
      Bun.spawnSync(['mvn', '-q', '-B', ...options, '-f', pom, ...goal], {
        timeout: commandTimeoutMs,
      }).exitCode === 0
    if (resolve(['-o']) || resolve([])) renameSync(partial, file)
  })
  return isThere() ? readFileSync(file, 'utf8') : undefined
}

/**
 * The command that runs a program of one file. It is compiled once: `java` compiles what it is given as source at each
 * start, for longer than all the rest takes.
 *
 * @param classpath what the program needs besides
 * @throws Error when it does not compile
 */
export const javaProgram = (file: string, classpath = ''): readonly string[] => {
  const classes = keptPath('java', `${classpath}\n${readFileSync(file, 'utf8')}`)
  madeOnce(classes, () => {
    const partial = `${classes}.partial`
    const machine = shortJava.map((option) => `-J${option}`)
    const command = ['javac', ...machine, '-encoding', 'UTF-8', '-cp', classpath, '-d', partial]
    const { exitCode, stderr } = Bun.spawnSync([...command, file], { timeout: commandTimeoutMs })
    if (exitCode !== 0) throw new Error(`${file}: ${stderr}`)
    renameSync(partial, classes)
  })
  const path = [classes, ...(classpath === '' ? [] : [classpath])].join(':')
  // Whatever the locale of this machine.
  const texts = ['-Dfile.encoding=UTF-8', '-Dstdout.encoding=UTF-8']
  return ['java', ...shortJava, ...texts, '-cp', path, basename(file, '.java')]
}
