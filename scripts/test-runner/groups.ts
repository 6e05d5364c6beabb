import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** To load the sources takes a process a second or two, as much as many a file. */
const groupFilesMax = 24

/**
 * What begins first, in this order, and how many files of it share a process at most: where tests start whole programs,
 * or wait, and where one file takes minutes. So at the end only short work is left to share out. The screens share
 * one process, and its browser.
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
  // They wait for blocks and for time-outs: beside them others work, which at the end nobody would.
  ['test/drex/', groupFilesMax],
  ['test/platform/broker/', groupFilesMax],
  ['test/conformance/', 12],
]

type Groups = readonly (readonly string[])[]

/** Distributes test files over processes: a group runs in one process, and groups start in order, the early ones first. */
export const groupsOf = (
  root: string,
  files: readonly string[],
): { readonly early: Groups; readonly late: Groups } => {
  const usesKafka = (file: string): boolean =>
    file.includes('/kafka/') || readFileSync(join(root, file), 'utf8').includes('support/kafka.ts')
  // They share one Kafka, which takes seconds to start and memory to run; it is fetched once, too.
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

/** Neighbours import much of the same, which one process loads once. */
const neighbours = (files: readonly string[], filesMax: number): Groups =>
  Array.from({ length: Math.ceil(files.length / filesMax) }, (_, index) =>
    files.slice(index * filesMax, (index + 1) * filesMax),
  )
