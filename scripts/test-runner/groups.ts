import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A process takes a second or two to load the sources, as much as many a file. */
const groupFilesMax = 24

/**
 * The paths that begin first, in this order, and how many of their files share a process at most: tests that start
 * whole programs, wait, or take minutes. So only short work is left at the end. The screens share one process and its
 * browser.
 */
const early: readonly (readonly [path: string, filesMax: number])[] = [
  ['test/e2e/dev', 1],
  ['test/security/schemathesis', 1],
  ['test/clients/generated', 1],
  ['test/console/', 2 * groupFilesMax],
  // The library of the chain aborts its process now and then.
  ['test/faults/drex', 1],
  ['test/faults/', 6],
  ['test/e2e/', 6],
  ['test/readme/', 3],
  ['test/drex/recovery', 1],
  // These wait for blocks and time-outs: others work meanwhile, but at the end nobody would.
  ['test/drex/', groupFilesMax],
  ['test/platform/broker/', groupFilesMax],
  ['test/conformance/', 12],
]

type Groups = readonly (readonly string[])[]

/** Distributes test files over processes: a group runs in one process; groups start in order, the early ones first. */
export const groupsOf = (
  root: string,
  files: readonly string[],
): { readonly early: Groups; readonly late: Groups } => {
  const usesKafka = (file: string): boolean =>
    file.includes('/kafka/') || readFileSync(join(root, file), 'utf8').includes('support/kafka.ts')
  // These share one Kafka, which takes seconds to start and memory to run, and is fetched once.
  const kafka = files.filter(usesKafka)
  const rest = new Set(files.filter((file) => !kafka.includes(file)))
  const first = early.flatMap(([path, filesMax]) => {
    const found = [...rest].filter((file) => file.startsWith(path))
    for (const file of found) rest.delete(file)
    return neighbours(found, filesMax)
  })
  return {
    early: kafka.length > 0 ? [kafka, ...first] : first,
    late: neighbours([...rest], groupFilesMax),
  }
}

/** Neighbours import much of the same code, which one process loads once. */
const neighbours = (files: readonly string[], filesMax: number): Groups =>
  Array.from({ length: Math.ceil(files.length / filesMax) }, (_, index) =>
    files.slice(index * filesMax, (index + 1) * filesMax),
  )
