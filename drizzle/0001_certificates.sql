CREATE TABLE "certificates" (
	"ispb" text NOT NULL,
	"type" text NOT NULL,
	"version" integer NOT NULL,
	"fingerprint" text NOT NULL,
	"not_after" timestamp with time zone NOT NULL,
	"certificate" text NOT NULL,
	"chain" text[] NOT NULL,
	"sealed_key" "bytea",
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "certificates_ispb_type_version_pk" PRIMARY KEY("ispb","type","version")
);

CREATE UNIQUE INDEX "certificates_fingerprint" ON "certificates" USING btree ("ispb","type","fingerprint");