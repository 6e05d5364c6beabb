export {
  alterTable,
  ensurePartitions,
  lockTimeoutMs,
  type PartitionedTable,
  type PartitionRange,
  type PartitionUnit,
  partitionNames,
  partitionRange,
  timestampBound,
  uuidBound,
} from './partitions.ts'
