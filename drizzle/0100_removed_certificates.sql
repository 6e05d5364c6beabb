-- expand
CREATE TABLE "removed_certificates" (
	"ispb" text NOT NULL,
	"type" text NOT NULL,
	"version" integer NOT NULL,
	"fingerprint" text NOT NULL,
	CONSTRAINT "removed_certificates_ispb_type_version_pk" PRIMARY KEY("ispb","type","version")
);
